import { beforeEach, describe, expect, test } from 'vitest'
import * as events from '#operations/store/provider-events/accept'
import { applyDueEvents } from '#operations/store/provider-events/apply'
import { type Context, SystemContext } from '#runtime/context'
import type { SectionExtensions } from '#runtime/extensions'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

/** Applied events in order: the store, and the events' names. */
let applied: { storeId: string; names: unknown[] }[] = []
let refuse: (name: unknown) => boolean = () => false
let unplaced: (name: unknown) => boolean = () => false
const readName = (event: events.StoredEvent): unknown => (event.data as { name: unknown }).name

const extensions: SectionExtensions = {
  providerEvents: {
    'test:changed': [
      async (ctx, given) => {
        // Written in the transaction, so rolled back with it.
        await ctx.db
          .updateTable('stores')
          .set({ phone: String(given.length) })
          .execute()
        if (given.some((event) => refuse(readName(event)))) throw new Error('This one is odd')
        applied.push({ storeId: ctx.store.id, names: given.map(readName) })
      },
    ],
    'test:unplaced': [
      async (_ctx, given) => given.filter((event) => unplaced(readName(event))).map((event) => event.id),
    ],
  },
}
const app = await testApp({}, { extensions })
const start = '2026-11-20T12:00:00.000Z'
await app.setClock(start)
const system = new SystemContext(app.services, app.services.log, 'test')

beforeEach(async () => {
  applied = []
  refuse = () => false
  unplaced = () => false
  await app.database.root.deleteFrom('provider_events').execute()
  // Advances the clock, so that periodic jobs are due again.
  await app.advance(7_200_000)
})

const event = (storeId: string | null, name: string, kind = 'changed'): events.IncomingEvent => ({
  key: `${kind}:${name}`,
  kind,
  occurredAt: start,
  storeRef: null,
  storeId,
  data: { name },
})
const accept = (...given: events.IncomingEvent[]) => events.accept(system, 'test', 'sandbox', given)
const stored = () =>
  app.database.root
    .selectFrom('provider_events')
    .select(['key', 'store_id', 'applied_at', 'attempts', 'failure', 'payload'])
    .orderBy('id')
    .execute()
const queued = async (): Promise<number> => {
  const [row] = await app.database.query<{ jobs: number }>(
    `select count(*)::int as jobs from pgboss.job where data->>'job' = 'provider-event-apply' and state < 'active'`,
    [],
  )
  return row!.jobs
}
const readPhone = async (ctx: Context): Promise<string | null> =>
  (await ctx.db.selectFrom('stores').select('phone').executeTakeFirstOrThrow()).phone

describe('accepting', () => {
  test('each event is accepted once, with one job for the new ones', async () => {
    const shop = await store(app)
    await app.drainJobs()
    await accept(event(shop.id, 'a'), event(shop.id, 'b'), event(shop.id, 'a'))
    expect(await queued()).toBe(1)
    await accept(event(shop.id, 'b'), event(shop.id, 'a'))
    expect(await queued()).toBe(1)
    await app.drainJobs()
    expect(applied).toEqual([{ storeId: shop.id, names: ['a', 'b'] }])
    await accept(event(shop.id, 'a'), event(shop.id, 'c'))
    await app.drainJobs()
    expect(applied.slice(1)).toEqual([{ storeId: shop.id, names: ['c'] }])
  })

  test('text that the database cannot store is sanitized', async () => {
    const shop = await store(app)
    await accept(event(shop.id, 'null \0 and half \ud83d'))
    await app.drainJobs()
    expect(applied).toEqual([{ storeId: shop.id, names: ['null  and half \ufffd'] }])
  })

  test('the same key of another provider is another event', async () => {
    const shop = await store(app)
    await accept(event(shop.id, 'a'))
    await events.accept(system, 'test', 'other', [event(shop.id, 'a')])
    await app.drainJobs()
    expect(applied.flatMap((each) => each.names)).toEqual(['a', 'a'])
  })
})

describe('applying', () => {
  test('events are applied per store, oldest first', async () => {
    const one = await store(app)
    const other = await store(app)
    await accept(event(one.id, '1'), event(other.id, '2'), event(one.id, '3'))
    await app.drainJobs()
    expect(applied).toEqual([
      { storeId: one.id, names: ['1', '3'] },
      { storeId: other.id, names: ['2'] },
    ])
  })

  test('events of unknown kinds and of deleted stores are marked as applied', async () => {
    const shop = await store(app)
    await accept(event(shop.id, 'a', 'surprise'), event(crypto.randomUUID(), 'b'), event(null, 'c'))
    await app.drainJobs()
    expect(applied).toEqual([])
    for (const each of await stored())
      expect(each).toMatchObject({ applied_at: app.clock.now(), attempts: 0 })
  })

  test('a failing event affects no other, is rolled back, and is retried later', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    refuse = (name) => name === '5'
    await accept(...Array.from({ length: 9 }, (_, index) => event(shop.id, String(index))))
    await app.drainJobs()
    expect(applied.flatMap((each) => each.names).sort()).toEqual(['0', '1', '2', '3', '4', '6', '7', '8'])
    expect(await readPhone(ctx)).not.toBe('9')
    const left = (await stored()).filter((each) => each.applied_at === null)
    expect(left).toMatchObject([{ key: 'changed:5', attempts: 1, failure: 'This one is odd' }])

    await app.advance(999)
    await applyDueEvents(system, new AbortController().signal)
    expect((await stored()).find((each) => each.key === 'changed:5')).toMatchObject({ attempts: 1 })
    await app.advance(251)
    await app.drainJobs()
    expect((await stored()).find((each) => each.key === 'changed:5')).toMatchObject({ attempts: 2 })
    refuse = () => false
    await app.advance(2_250)
    await app.drainJobs()
    expect((await stored()).find((each) => each.key === 'changed:5')).toMatchObject({
      attempts: 2,
      failure: null,
      applied_at: app.clock.now(),
    })
    expect(applied.at(-1)).toEqual({ storeId: shop.id, names: ['5'] })
  })

  test('an unplaced event is retried for an hour, then dropped', async () => {
    const shop = await store(app)
    unplaced = (name) => name === 'lost' || name === 'early'
    await accept(
      event(shop.id, 'known', 'unplaced'),
      event(shop.id, 'early', 'unplaced'),
      event(shop.id, 'lost', 'unplaced'),
    )
    await app.drainJobs()
    expect(await stored()).toMatchObject([
      { applied_at: app.clock.now() },
      { applied_at: null, attempts: 1 },
      { applied_at: null, attempts: 1 },
    ])
    unplaced = (name) => name === 'lost'
    await app.advance(1_250)
    await app.drainJobs()
    expect(await stored()).toMatchObject([
      {},
      { applied_at: app.clock.now() },
      { applied_at: null, attempts: 2 },
    ])
    for (let waited = 0; waited < 11; waited += 1) {
      await app.advance(300_000)
      await app.drainJobs()
    }
    expect((await stored())[2]).toMatchObject({ applied_at: null })
    await app.advance(900_000)
    await app.drainJobs()
    expect((await stored())[2]).toMatchObject({
      applied_at: app.clock.now(),
      failure: 'Known nowhere after an hour',
    })
  })

  test('an event without a job is found periodically', async () => {
    const shop = await store(app)
    await accept(event(shop.id, 'a'))
    await app.database.query(`delete from pgboss.job where data->>'job' = 'provider-event-apply'`, [])
    await app.advance(61_000)
    await app.drainJobs()
    expect(applied).toEqual([{ storeId: shop.id, names: ['a'] }])
  })

  test('thousands are applied in bulk', async () => {
    const shop = await store(app)
    await accept(...Array.from({ length: 3000 }, (_, index) => event(shop.id, String(index))))
    await app.drainJobs()
    expect(applied.flatMap((each) => each.names)).toEqual(
      Array.from({ length: 3000 }, (_, index) => String(index)),
    )
    expect(applied.length).toBeLessThan(10)
  })
})
