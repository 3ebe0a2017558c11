/**
 * Whatever a body names is looked for: each field that carries a mark, in each operation that takes it, is given what
 * is not there. It is refused by its name, and nothing is left of the call.
 */

import { beforeAll, describe, expect, test } from 'vitest'
import { changeProduct } from '#operations/store/ecommerce/sandbox-product-change'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import { type Named, namedIn } from '#runtime/references'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { newId } from '#runtime/values/ids'
import { testApp, wholeRegistry } from '#test/support/app'
import { isFullSuite } from '#test/support/suite'
import { holders, made } from './holders.ts'
import { bodySchemaOf, marksOf, withoutIndices } from './marks.ts'
import { rowsOf } from './rows.ts'
import { type Holder, sender, type World, world } from './world.ts'

const registry = await wholeRegistry()
const app = await testApp({ publicUrl: 'https://api.example.com' })
const operationOf = (id: string): LoadedOperation => registry.byId(id)!

const naming = registry.operations.flatMap((operation) =>
  operation.spec.readOnly
    ? []
    : marksOf(bodySchemaOf(operation)).map((mark) => ({ ...mark, operation: operation.id })),
)

/** Where a page wants 404 for what is not there. */
const notFound: readonly RegExp[] = [
  /^(post|put)_(campaigns|automations)\S* .*officialapiTemplateId$/,
  /^post_\S*messag\S* officialapiTemplateId$/,
  / (settings\.)?(listId|crmListId|contactListId)$/,
]

/** By the bounds of its table any number will do: what is no template of the store has no status. */
const unasked = /^post_stock_notifications_settings officialapiTemplateId$/

/** Names of nothing, by kind. */
const unknown: Record<string, (at: World, holder: Holder) => Promise<(string | number)[]>> = {
  product: async () => ['9999'],
  variant: async () => ['8888'],
  category: async () => ['77'],
  template: async () => [2_000_000],
  list: async () => [newId(1)],
  look: async () => [newId(1), 'nothing'],
  file: async (at, holder) => [
    (await at.file()).replace(/[^/]+$/, 'nothing.png'),
    await at.promised(holder.uploads ?? 'header'),
    holder.uploads ? await other.upload(holder.uploads) : await other.file(),
  ],
}

let other: World
beforeAll(async () => {
  other = await world(app, { connection: 'inbox' })
})

/** A copy in which one thing that is named has another name. */
function renamed(body: unknown, { field, value }: Named, to: string | number): object {
  const copy = structuredClone(body) as Record<string, unknown>
  const path = field.split('.')
  const last = path.pop()!
  const holder = path.reduce((at, name) => at[name] as Record<string, unknown>, copy)
  const there = holder[last]
  holder[last] = Array.isArray(there) ? there.map((each) => (each === value ? to : each)) : to
  return copy
}

test('every field with a mark is walked', () => {
  expect(naming.length).toBeGreaterThan(60)
})

/** One that is there, as an operation is told of it. */
async function named(holder: Holder, at: World): Promise<object> {
  const id = await made(registry, holder, at)
  return id === null ? {} : { [holder.id!.in]: { [holder.id!.as]: id } }
}

describe.each(holders.map((holder) => [holder.name, holder] as const))('%s', (_name, holder) => {
  const walks = [...new Set([holder.create, holder.update])].filter((id) => id !== undefined)
  test.each(walks)('%s', async (id) => {
    const at = await world(app, holder)
    const send = sender(at)
    const operation = operationOf(id)
    const schema = bodySchemaOf(operation)
    const own: { body?: object; params?: Record<string, string> } = {}
    if (id === holder.create) own.params = (await holder.params?.(at)) ?? {}
    else Object.assign(own, await named(holder, at))
    await app.drainJobs()
    for (const full of await holder.full(at)) {
      const body = { ...full, ...own.body }
      for (const named of namedIn(schema, body)) {
        if (unasked.test(`${id} ${named.field}`)) continue
        const unknowns = await unknown[named.kind]!(at, holder)
        const before = await rowsOf(app, at.shop.id)
        for (const wrong of unknowns) {
          const { status, body: answer } = await send(
            operation,
            renamed(body, named, wrong) as never,
            own.params,
          )
          const wanted = notFound.some((each) => each.test(`${id} ${withoutIndices(named.field)}`))
            ? 404
            : 400
          expect
            .soft([status, `${answer?.error?.message}`.split(': ')[0]], `${named.field} ${wrong}`)
            .toEqual([wanted, named.field])
          expect.soft(await rowsOf(app, at.shop.id), `${named.field} ${wrong}`).toEqual(before)
        }
      }
      const fine = await send(operation, body as never, own.params)
      expect([fine.status, fine.body?.error?.message]).toEqual([operation.spec.answer.status, undefined])
    }
  })
})

test.runIf(isFullSuite)('the holders fill every field with a mark', async () => {
  const filled = new Set<string>()
  for (const holder of holders) {
    const at = await world(app, holder)
    for (const id of [holder.create, holder.update]) {
      if (id === undefined) continue
      const schema = bodySchemaOf(operationOf(id))
      for (const body of await holder.full(at)) {
        for (const { field } of namedIn(schema, body)) filled.add(`${id} ${withoutIndices(field)}`)
      }
    }
  }
  expect(
    naming.map(({ operation, field }) => `${operation} ${field}`).filter((each) => !filled.has(each)),
  ).toEqual([])
})

describe('what is gone meanwhile is kept, while other fields change', () => {
  const changing = holders.filter(({ update, make }) => update !== undefined && make === undefined)
  test.each(changing.map((holder) => [holder.name, holder] as const))('%s', async (_name, holder) => {
    const at = await world(app, holder)
    const send = sender(at)
    const update = operationOf(holder.update!)
    const own = (await named(holder, at)) as { body?: object; params?: Record<string, string> }
    const [full] = await holder.full(at)
    const save = async (change: object) => {
      const { status, body } = await send(update, { ...full, ...change, ...own.body }, own.params)
      await app.drainJobs({ allowFailures: true })
      return [status, body?.error?.message]
    }
    expect(await save({})).toEqual([200, undefined])
    for (const id of ['1001', '1002']) await changeProduct(at.shop.platform, id, { isDeleted: true })
    await app.database.query(`delete from sandbox_objects where store_id = $1 and kind = 'category'`, [
      at.shop.id,
    ])
    if (!holder.uploads)
      await app.database.query('delete from message_templates where store_id = $1', [at.shop.id])
    await (await at.shop.context()).queue(productSnapshotsRefresh, {})
    await app.drainJobs({ allowFailures: true })
    expect(await save(holder.touch ?? { name: 'Other' })).toEqual([200, undefined])
  })
})
