/**
 * A list is walked along an index: whatever the number of rows, PostgreSQL sorts none for a page. Each list of the demo is
 * asked, and its statement explained with sorting forbidden; a plan that sorts all the same has no index to go by.
 */
import { describe, expect, inject, test } from 'vitest'
import type { Context } from '#runtime/context'
import { publish } from '#runtime/documents/publish'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { wholeRegistry } from '#test/support/app'
import { openDemo } from './demo.ts'

/** Which sort, and why that is never long. */
const sorting: Readonly<Record<string, string>> = {
  '/statistics/products': 'what a product earned is a sum: there are as many as the shop has products',
  '/inbox/conversations/:id/automations': 'those of one phone',
  '/inbox/conversations/:id/reviews': 'those of one phone',
  '/cart-gifts': 'a few: at most 20 are active at a time',
  '/product-content-blocks': 'at most as many as `requireRoom` lets in',
  '/product-stickers': 'at most as many as `requireRoom` lets in',
  '/product-badges': 'at most as many as `requireRoom` lets in',
  '/shop-the-look/looks/health': 'at most as many as `requireRoom` lets in',
}
/** Those that are no page of `preparedList`: of the platform, and of the inbox, which has its sizes in `npm run bench -- sizes`. */
const elsewhere = ['/ecomplatform/products', '/inbox/conversations', '/inbox/conversations/:id/messages']

const { operations } = await wholeRegistry()
const lists = operations.filter(({ spec }) => {
  const fields = spec.input?.query ? (publish(spec.input.query).properties ?? {}) : {}
  return spec.readOnly && Object.hasOwn(fields, 'limit') && Object.hasOwn(fields, 'page')
})

interface Plan {
  'Node Type': string
  'Parent Relationship'?: string
  Plans?: Plan[]
}
/** What fills the page: below its limit, and not what each of its rows looks up beside (a `SubPlan`). */
function nodesOf(plan: Plan, isBelow = false): string[] {
  if (plan['Parent Relationship'] === 'SubPlan') return []
  const below = isBelow || plan['Node Type'] === 'Limit'
  return [
    ...(isBelow ? [plan['Node Type']] : []),
    ...(plan.Plans ?? []).flatMap((each) => nodesOf(each, below)),
  ]
}

// The shards of a cluster have the same indexes.
describe.skipIf(inject('nodes').length > 1)('a page of', async () => {
  const { app, context, namesOf } = await openDemo()

  async function askedBy({ spec }: LoadedOperation, names: Record<string, string>) {
    const asked: { text: string; given: readonly unknown[] }[] = []
    const ctx: Context = await context()
    const { run } = ctx
    ctx.run = ((text, given, plan) => {
      asked.push({ text, given })
      return run.call(ctx, text, given, plan)
    }) as typeof run
    const query = spec.input!.query!
    const asks = [{}, { sourceType: 'automation' }]
      .map((each) => query.safeParse(each))
      .find(({ success }) => success)
    await spec.handler(ctx, { params: names, query: asks!.data, body: undefined } as never)
    return asked.filter(({ text }) => /order by/i.test(text) && /limit/i.test(text))
  }

  const planOf = (text: string, parameters: readonly unknown[]): Promise<Plan> =>
    app.database.root.transaction().execute(async (tx) => {
      const run = (sql: string, values: readonly unknown[] = []) =>
        tx.executeQuery<Record<string, unknown>>({
          ...{ sql, parameters: values, query: { kind: 'RawNode' } as never },
          queryId: { queryId: 'list' },
        })
      for (const way of [
        'seqscan',
        'bitmapscan',
        'sort',
        'incremental_sort',
        'hashagg',
        'hashjoin',
        'mergejoin',
      ])
        await run(`set local enable_${way} = off`)
      const { rows } = await run(`explain (format json) ${text}`, parameters)
      return (rows[0]!['QUERY PLAN'] as { Plan: Plan }[])[0]!.Plan
    })

  test('there are many', () => expect(lists.length).toBeGreaterThan(30))

  test.each(
    lists.filter(({ spec }) => !elsewhere.includes(spec.path)).map((each) => [each.id, each] as const),
  )('%s is read in its order', async (_id, operation) => {
    const [automation] = operation.spec.path.includes(':automationId')
      ? await app.database.query<{ id: string }>(
          'select id from automations where flow is not null limit 1',
          [],
        )
      : []
    const names = automation ? { automationId: automation.id } : await namesOf(operation)
    const asked = await askedBy(operation, names)
    expect(asked.length).toBeGreaterThan(0)
    const sorts: string[] = []
    for (const { text, given } of asked)
      sorts.push(...nodesOf(await planOf(text, given)).filter((node) => /Sort|Seq Scan/.test(node)))
    if (operation.spec.path in sorting) return
    expect(sorts, 'write an index that begins with store_id and ends with the columns of `order`').toEqual([])
  })
})
