/** Retention of 90 days and the newest 1,000 of a store: enforced by reads immediately, and by the daily job. */

import { describe, expect, test } from 'vitest'
import listNotifications from '#operations/notifications/api/list-notifications'
import readAllNotifications from '#operations/notifications/api/read-all-notifications'
import readNotification from '#operations/notifications/api/read-notification'
import removeNotification from '#operations/notifications/api/remove-notification'
import notificationsPrune from '#operations/notifications/jobs/notifications-prune'
import { pruneNotifications } from '#operations/notifications/prune'
import getOverview from '#operations/store/dashboard/api/get-overview'
import { SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

/** Creates notifications with these ages; returns their ids. */
async function createAged(
  shop: Shop,
  agesMs: number[],
  recipientIds: string[] | null = null,
): Promise<string[]> {
  const rows = agesMs.map((age) => {
    const at = new Date(app.clock.ms() - age)
    return {
      store_id: shop.id,
      id: newId(at.getTime()),
      title: 'n',
      recipient_ids: recipientIds,
      created_at: at,
      updated_at: at,
    }
  })
  for (let i = 0; i < rows.length; i += 500) {
    await app.database.root
      .insertInto('notifications')
      .values(rows.slice(i, i + 500))
      .execute()
  }
  return rows.map((row) => row.id)
}
const range = (count: number, step = 1000): number[] =>
  Array.from({ length: count }, (_, i) => (i + 1) * step)
const list = async (shop: Shop, query = {}) => (await shop.call(listNotifications, { query })).body
const readIds = async (shop: Shop): Promise<string[]> =>
  (
    await app.database.root
      .selectFrom('notifications')
      .select('id')
      .where('store_id', '=', shop.id)
      .orderBy('created_at', 'desc')
      .execute()
  ).map((row) => row.id)
const prune = () =>
  pruneNotifications(new SystemContext(app.services, app.services.log, 'test'), new AbortController().signal)

describe('before the job ran', () => {
  test('notifications over 90 days old are not visible', async () => {
    const shop = await store(app)
    const [kept, gone] = await createAged(shop, [90 * dayMs, 90 * dayMs + 1])
    expect(await list(shop)).toMatchObject({ total: 1, unreadCount: 1, data: [{ id: kept }] })
    expect((await shop.call(readNotification, { body: { id: gone } })).status).toBe(404)
    expect((await shop.call(removeNotification, { query: { id: gone! } })).status).toBe(404)
    expect((await shop.call(getOverview)).body.pendingItems.at(-1).count).toBe(1)
    expect((await shop.call(readAllNotifications)).body).toEqual({ updated: 1, unreadCount: 0 })
    await app.advance(1)
    expect(await list(shop)).toMatchObject({ total: 0, unreadCount: 0 })
    expect((await shop.call(readNotification, { body: { id: kept } })).status).toBe(404)
  })

  test('only the newest 1,000 of a store are visible, for whatever recipients', async () => {
    const shop = await store(app)
    const ada = await shop.person('agent')
    await createAged(shop, range(10), [ada.userId])
    const ids = await createAged(
      shop,
      range(1000).map((age) => age + 20_000),
    )
    const answer = await list(shop, { page: 10, limit: 100 })
    expect(answer).toMatchObject({ total: 990, unreadCount: 990 })
    expect(answer.data).toHaveLength(90)
    expect(answer.data.at(-1).id).toBe(ids[989])
    expect((await shop.call(readNotification, { body: { id: ids[990] } })).status).toBe(404)
    expect((await shop.call(removeNotification, { query: { id: ids[990]! } })).status).toBe(404)
    expect((await shop.call(readNotification, { body: { id: ids[989] } })).status).toBe(200)
    expect((await shop.call(getOverview)).body.pendingItems.at(-1).count).toBe(989)
    expect((await shop.call(readAllNotifications)).body).toEqual({ updated: 989, unreadCount: 0 })
    const { body } = await shop.call(listNotifications, { key: ada.key })
    expect(body).toMatchObject({ total: 1000, unreadCount: 1000 })
  })

  test('notifications of one millisecond are ordered by id', async () => {
    const shop = await store(app)
    const ids = await createAged(
      shop,
      Array.from({ length: 1002 }, () => 5000),
    )
    const newest = [...ids].sort().reverse()
    expect((await list(shop, { page: 10, limit: 100 })).data.at(-1).id).toBe(newest[999])
    expect((await shop.call(readNotification, { body: { id: newest[1000] } })).status).toBe(404)
  })
})

describe('notifications-prune', () => {
  test('deletes notifications over 90 days old or beyond the newest 1,000 of each store', async () => {
    const [full, old, small] = [await store(app), await store(app), await store(app)]
    const many = await createAged(full, range(1203))
    const [kept] = await createAged(old, [90 * dayMs, 90 * dayMs + 1, 200 * dayMs])
    const few = await createAged(small, range(3))
    await full.call(readAllNotifications)
    await prune()
    expect(await readIds(full)).toEqual(many.slice(0, 1000))
    expect(await readIds(old)).toEqual([kept])
    expect(await readIds(small)).toEqual(few)
    await prune()
    expect(await readIds(full)).toHaveLength(1000)
    expect(await list(full)).toMatchObject({ total: 1000, unreadCount: 0 })
    expect(notificationsPrune.spec.everySeconds).toBe(24 * 3600)
  })

  test('runs daily', async () => {
    const shop = await store(app)
    await createAged(shop, [91 * dayMs])
    await app.advance(dayMs)
    await app.drainJobs()
    expect(await readIds(shop)).toEqual([])
  })
})
