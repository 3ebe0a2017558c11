/**
 * References in bodies are validated: every reference field of every operation is sent with an unknown value. It is
 * refused by name, and the call leaves no trace.
 */

import { beforeAll, describe, expect, test } from 'vitest'
import { changeSandboxProduct } from '#operations/store/ecommerce/sandbox-product-change'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import { findReferences, type Reference } from '#runtime/references'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { newId } from '#runtime/values/ids'
import { testApp, wholeRegistry } from '#test/support/app'
import { isFullSuite } from '#test/support/suite'
import { ensureResource, holders } from './holders.ts'
import { findReferenceFields, getBodySchema, withoutIndices } from './reference-fields.ts'
import { snapshotRows } from './row-snapshots.ts'
import { type Holder, sender, type World, world } from './world.ts'

const registry = await wholeRegistry()
const app = await testApp({ publicUrl: 'https://api.example.com' })
const getOperation = (id: string): LoadedOperation => registry.byId(id)!

const naming = registry.operations.flatMap((operation) =>
  operation.spec.readOnly
    ? []
    : findReferenceFields(getBodySchema(operation)).map((mark) => ({ ...mark, operation: operation.id })),
)

/** Fields whose unknown value is a 404 by specification. */
const notFound: readonly RegExp[] = [
  /^(post|put)_(campaigns|automations)\S* .*officialapiTemplateId$/,
  /^post_\S*messag\S* officialapiTemplateId$/,
  / (settings\.)?(listId|crmListId|contactListId)$/,
]

/** Accepts any number: an unknown template simply has no status. */
const exemptFields = /^post_stock_notifications_settings officialapiTemplateId$/

/** Unknown values by kind. */
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

/** A copy of the body with one reference replaced. */
function replaceReference(body: unknown, { field, value }: Reference, to: string | number): object {
  const copy = structuredClone(body) as Record<string, unknown>
  const path = field.split('.')
  const last = path.pop()!
  const holder = path.reduce((at, name) => at[name] as Record<string, unknown>, copy)
  const there = holder[last]
  holder[last] = Array.isArray(there) ? there.map((each) => (each === value ? to : each)) : to
  return copy
}

test('every reference field is tested', () => {
  expect(naming.length).toBeGreaterThan(60)
})

/** Path or body that identifies an existing resource. */
async function buildUpdateTarget(holder: Holder, at: World): Promise<object> {
  const id = await ensureResource(registry, holder, at)
  return id === null ? {} : { [holder.id!.in]: { [holder.id!.as]: id } }
}

describe.each(holders.map((holder) => [holder.name, holder] as const))('%s', (_name, holder) => {
  const walks = [...new Set([holder.create, holder.update])].filter((id) => id !== undefined)
  test.each(walks)('%s', async (id) => {
    const at = await world(app, holder)
    const send = sender(at)
    const operation = getOperation(id)
    const schema = getBodySchema(operation)
    const own: { body?: object; params?: Record<string, string> } = {}
    if (id === holder.create) own.params = (await holder.params?.(at)) ?? {}
    else Object.assign(own, await buildUpdateTarget(holder, at))
    await app.drainJobs()
    for (const full of await holder.full(at)) {
      const body = { ...full, ...own.body }
      for (const buildUpdateTarget of findReferences(schema, body)) {
        if (exemptFields.test(`${id} ${buildUpdateTarget.field}`)) continue
        const unknowns = await unknown[buildUpdateTarget.kind]!(at, holder)
        const before = await snapshotRows(app, at.shop.id)
        for (const wrong of unknowns) {
          const { status, body: answer } = await send(
            operation,
            replaceReference(body, buildUpdateTarget, wrong) as never,
            own.params,
          )
          const wanted = notFound.some((each) =>
            each.test(`${id} ${withoutIndices(buildUpdateTarget.field)}`),
          )
            ? 404
            : 400
          expect
            .soft([status, `${answer?.error?.message}`.split(': ')[0]], `${buildUpdateTarget.field} ${wrong}`)
            .toEqual([wanted, buildUpdateTarget.field])
          expect
            .soft(await snapshotRows(app, at.shop.id), `${buildUpdateTarget.field} ${wrong}`)
            .toEqual(before)
        }
      }
      const fine = await send(operation, body as never, own.params)
      expect([fine.status, fine.body?.error?.message]).toEqual([operation.spec.answer.status, undefined])
    }
  })
})

test.runIf(isFullSuite)('the holders fill every reference field', async () => {
  const filled = new Set<string>()
  for (const holder of holders) {
    const at = await world(app, holder)
    for (const id of [holder.create, holder.update]) {
      if (id === undefined) continue
      const schema = getBodySchema(getOperation(id))
      for (const body of await holder.full(at)) {
        for (const { field } of findReferences(schema, body)) filled.add(`${id} ${withoutIndices(field)}`)
      }
    }
  }
  expect(
    naming.map(({ operation, field }) => `${operation} ${field}`).filter((each) => !filled.has(each)),
  ).toEqual([])
})

describe('a deleted reference is kept while other fields change', () => {
  const changing = holders.filter(({ update, make }) => update !== undefined && make === undefined)
  test.each(changing.map((holder) => [holder.name, holder] as const))('%s', async (_name, holder) => {
    const at = await world(app, holder)
    const send = sender(at)
    const update = getOperation(holder.update!)
    const own = (await buildUpdateTarget(holder, at)) as { body?: object; params?: Record<string, string> }
    const [full] = await holder.full(at)
    const save = async (change: object) => {
      const { status, body } = await send(update, { ...full, ...change, ...own.body }, own.params)
      await app.drainJobs({ allowFailures: true })
      return [status, body?.error?.message]
    }
    expect(await save({})).toEqual([200, undefined])
    for (const id of ['1001', '1002']) await changeSandboxProduct(at.shop.platform, id, { isDeleted: true })
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
