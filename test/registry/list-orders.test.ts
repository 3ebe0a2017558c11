/**
 * A list page reads along an index: PostgreSQL never sorts the rows. Each list of the demo is called and its
 * statement explained with sorting disabled; a plan that still sorts lacks an index.
 */
import { describe, expect, inject, test } from 'vitest'
import type { Context } from '#runtime/context'
import { publish } from '#runtime/documents/publish'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { wholeRegistry } from '#test/support/app'
import { openDemo } from './demo.ts'

/** Allowed sorts, with the reason why they stay short. */
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
/** Lists without `preparedList`: the platform's, and the inbox's, which `npm run bench -- sizes` measures. */
const excludedLists = ['/ecomplatform/products', '/inbox/conversations', '/inbox/conversations/:id/messages']

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
/** Plan nodes below the limit, without the lookups per row (`SubPlan`). */
function listNodes(plan: Plan, isBelow = false): string[] {
  if (plan['Parent Relationship'] === 'SubPlan') return []
  const below = isBelow || plan['Node Type'] === 'Limit'
  return [
    ...(isBelow ? [plan['Node Type']] : []),
    ...(plan.Plans ?? []).flatMap((each) => listNodes(each, below)),
  ]
}

// Shards of a cluster have the same indexes.
describe.skipIf(inject('nodes').length > 1)('a page of', async () => {
  const { app, context, namesOf } = await openDemo()

  async function askedBy({ spec }: LoadedOperation, names: Record<string, string>) {
    const asked: { text: string; given: readonly unknown[] }[] = []
    const ctx: Context = await context()
    const { runPrepared } = ctx
    ctx.runPrepared = ((text, given, plan) => {
      asked.push({ text, given })
      return runPrepared.call(ctx, text, given, plan)
    }) as typeof runPrepared
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

  test('there are over 30 lists', () => expect(lists.length).toBeGreaterThan(30))

  test.each(
    lists.filter(({ spec }) => !excludedLists.includes(spec.path)).map((each) => [each.id, each] as const),
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
      sorts.push(...listNodes(await planOf(text, given)).filter((node) => /Sort|Seq Scan/.test(node)))
    if (operation.spec.path in sorting) return
    expect(sorts, 'write an index that begins with store_id and ends with the columns of `order`').toEqual([])
  })
})
