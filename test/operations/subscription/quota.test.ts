/** The quota of the cycle, over the API (store, rule 7). */

import { expect, test } from 'vitest'
import createCampaign from '#operations/campaigns/campaigns/api/create-campaign'
import createList from '#operations/campaigns/lists/api/create-list'
import { sandboxOf } from '#operations/messaging/provider/sandbox'
import sendMessage from '#operations/messaging/sends/api/send-message'
import listNotifications from '#operations/notifications/api/list-notifications'
import readNotification from '#operations/notifications/api/read-notification'
import getUsage from '#operations/subscription/reads/api/get-usage'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type Billed, billed, startAt } from '#test/support/subscriber'

const app = await testApp()
const sandbox = sandboxOf(app.services.adapters.messaging)

/** On `starter` with so many of its 1,000 messages left. */
async function sender(left: number, plan: 'starter' | 'growth' = 'starter'): Promise<Billed> {
  await startAt(app, '2026-11-20T12:00:00.000Z')
  const me = await billed(app, { plan })
  const ctx = await me.shop.context()
  await connectNumber(ctx, { type: 'qr', phone: '+5511900001111' })
  const { limit } = await me.read(getUsage)
  await ctx.db
    .updateTable('usage_cycles')
    .set({ used: limit - left })
    .execute()
  return me
}
const send = (me: Billed, phone: string) => me.shop.call(sendMessage, { body: { phone, text: 'Hello' } })
const phoneOf = (n: number): string => `+55119${String(82_000_000 + n * 10 + 5)}`

test('5 left: of 20 single sends at once 5 are accepted and 15 refused; the sums are exact', async () => {
  const me = await sender(5)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(me, phoneOf(n))))
  const statuses = answers.map((each) => each.status).sort()
  expect(statuses).toEqual([...Array(5).fill(201), ...Array(15).fill(403)])
  for (const { status, body } of answers) {
    if (status === 403) expect(body.error.code).toBe('forbidden')
  }
  expect(await sandbox.outbox(me.shop.id)).toHaveLength(5)
  expect(await me.read(getUsage)).toMatchObject({ used: 1000, reserved: 0, remaining: 0, percentUsed: 100 })
  const refused = await app.database.query('select 1 from direct_messages where store_id = $1', [me.shop.id])
  expect(refused).toHaveLength(5)
})

test('the last unit is nobody’s twice, however often it is tried', { timeout: 60_000 }, async () => {
  for (let round = 0; round < 10; round += 1) {
    const me = await sender(1)
    const answers = await Promise.all([send(me, phoneOf(1)), send(me, phoneOf(2))])
    expect(answers.map((each) => each.status).sort()).toEqual([201, 403])
    expect(await me.read(getUsage)).toMatchObject({ used: 1000, reserved: 0 })
  }
})

test('what the network refuses is given back', async () => {
  const me = await sender(5)
  for (let n = 1; n <= 3; n += 1) {
    expect((await send(me, `+5511${String(98_810 + n)}0001`)).status).toBe(409)
  }
  expect(await me.read(getUsage)).toMatchObject({ used: 995, reserved: 0, remaining: 5 })
})

test('a campaign larger than what is left is refused whole', async () => {
  const me = await sender(5, 'growth')
  const { shop } = me
  const list = await shop.call(createList, { body: { name: 'Everybody' } })
  for (let n = 0; n < 10; n += 1) {
    const path = `/campaigns/lists/${list.body.id}/contacts`
    expect((await shop.request('POST', path, { body: { phone: phoneOf(n) } })).status).toBe(201)
  }
  const body = { name: 'Sale', listId: list.body.id, content: { type: 'text', text: 'Hello' } }
  const created = await shop.call(createCampaign, { body })
  const sent = await shop.request('POST', `/campaigns/${created.body.id}/send`)
  expect([sent.status, sent.body.error.code]).toEqual([403, 'forbidden'])
  expect(await me.read(getUsage)).toMatchObject({ used: 9995, reserved: 0, remaining: 5 })
  expect((await shop.request('GET', `/campaigns/${created.body.id}`)).body.status).toBe('draft')
  await app.drainJobs()
  expect(await sandbox.outbox(shop.id)).toEqual([])
})

test('one notice at 80 % and one at 100 %; what Ada reads is unread for Olivia', async () => {
  const me = await sender(202)
  const { shop } = me
  const ada = await shop.person('member')
  for (let n = 0; n < 3; n += 1) await send(me, phoneOf(n))
  const ctx = await shop.context()
  await ctx.db.updateTable('usage_cycles').set({ used: 998 }).execute()
  for (let n = 3; n < 7; n += 1) await send(me, phoneOf(n))
  await app.drainJobs()
  expect((await me.notices()).filter((type) => type.startsWith('quota'))).toEqual(['quota-80', 'quota-100'])
  const unread = async (key?: string) => {
    const { body } = await shop.call(listNotifications, {
      query: { isRead: false },
      ...(key ? { key } : {}),
    })
    return body
  }
  const [{ id }] = (await unread(ada.key)).data
  const before = await unread()
  await shop.call(readNotification, { body: { id }, key: ada.key })
  expect((await unread(ada.key)).unreadCount).toBe(before.unreadCount - 1)
  expect(await unread()).toEqual(before)
})
