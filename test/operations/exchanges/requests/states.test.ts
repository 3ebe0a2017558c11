/** Every status and every transition: those of the table succeed, all others are refused. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Status, statuses } from '#operations/exchanges/requests/transitions'
import { type ExchangeShop, exchangeShop } from '#test/operations/exchanges/shopper'
import {
  approve,
  confirm,
  type Requested,
  read,
  received,
  reject,
  remove,
  requested,
} from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
let shared: ExchangeShop
beforeAll(async () => {
  shared = await exchangeShop(app)
})

/** Brings a request to a status through its transitions. */
const ways: Record<Status, (shop: ExchangeShop, made: Requested) => Promise<void>> = {
  requested: async () => undefined,
  approved: async (shop, { id }) => void (await approve(shop, id)),
  'in-transit': async (shop, made) => {
    await approve(shop, made.id)
    await shop.follow(made.statusUrl, '/shipped', { trackingCode: 'BR1' })
  },
  received: async (shop, { id }) => {
    await approve(shop, id)
    await received(shop, id)
  },
  completed: async (shop, { id }) => {
    await approve(shop, id)
    await confirm(shop, id)
  },
  rejected: async (shop, { id }) => void (await reject(shop, id)),
  cancelled: async (shop, { statusUrl }) => void (await shop.follow(statusUrl, '/cancel', {})),
  expired: async (shop, { id }) => {
    await approve(shop, id)
    await app.database.root
      .updateTable('exchange_requests')
      .set({ expires_at: app.clock.now() })
      .where('id', '=', id)
      .execute()
    await app.advance(15 * 60_000)
    await app.drainJobs()
  },
}

const moves: Record<string, (shop: ExchangeShop, made: Requested) => Promise<{ status: number }>> = {
  approve: (shop, { id }) => approve(shop, id),
  reject: (shop, { id }) => reject(shop, id),
  shipped: (shop, { statusUrl }) => shop.follow(statusUrl, '/shipped', { trackingCode: 'BR2' }),
  received: (shop, { id }) => received(shop, id),
  completed: (shop, { id }) => confirm(shop, id),
  cancel: (shop, { statusUrl }) => shop.follow(statusUrl, '/cancel', {}),
  delete: (shop, { id }) => remove(shop, id),
}

/** The target status of each allowed transition; all others are conflicts. */
const allowed: Record<Status, Record<string, Status | 'gone'>> = {
  requested: { approve: 'approved', reject: 'rejected', cancel: 'cancelled', delete: 'gone' },
  approved: {
    reject: 'rejected',
    shipped: 'in-transit',
    received: 'received',
    completed: 'completed',
    cancel: 'cancelled',
  },
  'in-transit': { shipped: 'in-transit', received: 'received', completed: 'completed' },
  received: { reject: 'rejected', completed: 'completed' },
  completed: { delete: 'gone' },
  rejected: { delete: 'gone' },
  cancelled: { delete: 'gone' },
  expired: { delete: 'gone' },
}

describe.each(statuses)('%s', (from) => {
  test.each(Object.keys(moves))('%s', async (name) => {
    const shop = shared
    const made = await requested(shop)
    await ways[from](shop, made)
    expect((await read(shop, made.id)).body.status).toBe(from)
    const answer = await moves[name]!(shop, made)
    const to = allowed[from][name]
    const now = await read(shop, made.id)
    if (to === undefined) expect([answer.status, now.body.status]).toEqual([409, from])
    else if (to === 'gone') expect([answer.status, now.status]).toEqual([204, 404])
    else expect([answer.status, now.body.status]).toEqual([200, to])
  })
})

test('one of several concurrent decisions succeeds', async () => {
  const shop = shared
  const { id, statusUrl } = await requested(shop)
  const both = await Promise.all([reject(shop, id), shop.follow(statusUrl, '/cancel', {}), reject(shop, id)])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  const { body } = await read(shop, id)
  const made = body.history.filter(({ toStatus }: { toStatus: string | null }) => toStatus !== null)
  expect(made).toHaveLength(2)
  const again = await requested(shop)
  await approve(shop, again.id)
  const ends = await Promise.all([
    confirm(shop, again.id),
    shop.follow(again.statusUrl, '/cancel', {}),
    reject(shop, again.id),
  ])
  expect(ends.map(({ status }) => status).sort()).toEqual([200, 409, 409])
})
