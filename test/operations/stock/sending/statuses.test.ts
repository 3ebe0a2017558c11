/** Alerts after they were or may have been sent: with a status, a late status, or none. */
import { expect, test } from 'vitest'
import { optOuts } from '#operations/messaging/index'
import { runRollout } from '#operations/stock/sending/batch-rollout'
import { alerts } from '#operations/stock/sending/outbox-source'
import deleteSubscription from '#operations/stock/subscriptions/api/delete-subscription'
import { phoneKey } from '#runtime/values/phone'
import { testApp } from '#test/support/app'
import { post } from '#test/support/numbers'
import { readRows } from '#test/support/rows'
import { makeEmail, makePhone, type StockShop, stockShop } from '#test/support/stock'

const app = await testApp({ storefrontAcceptedIp: 1000 })
await app.setClock('2026-11-20T12:00:00.000Z')
const hour = 3_600_000

/** An alert whose worker died after its call, a day without a status. */
async function makeIndeterminate(contact: object): Promise<{ shop: StockShop; id: string }> {
  const shop = await stockShop(app)
  expect((await shop.ask(contact)).status).toBe(201)
  await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock: 9 })
  await runRollout(await shop.context(), '3001', new AbortController().signal)
  const { id } = (await shop.all())[0]
  const called = app.database.root.updateTable('stock_subscriptions').set({ called_at: app.clock.now() })
  await called.where('id', '=', id).execute()
  await app.advance(25 * hour)
  await app.drainJobs()
  expect(await shop.one(id)).toMatchObject({ status: 'failed', reason: 'unknown-outcome' })
  return { shop, id }
}

async function reportStatus(shop: StockShop, messageId: string, status: 'delivered' | 'failed', attempt = 1) {
  const ctx = await shop.context()
  const failed = status === 'failed'
  await ctx.transaction((tx) =>
    alerts.applyStatuses(tx, [
      {
        messageId,
        attempt,
        status,
        at: app.clock.now(),
        providerMessageId: `p-${messageId}`,
        failureCode: failed ? 'recipient-stopped' : null,
        failureMessage: failed ? 'They stopped it' : null,
      },
    ]),
  )
}

async function readCounts(shop: StockShop) {
  const ledger = await readRows(shop, 'message_ledger', ['channel', 'status'])
  const touches = await readRows(shop, 'attribution_touches', ['channel', 'voided_at'])
  return {
    ledger: ledger.map((each) => `${each.channel} ${each.status}`),
    touches: touches.map((each) => `${each.channel}${each.voided_at ? ' void' : ''}`),
    usage: await shop.usage(),
  }
}

test('an indeterminate alert counts; a status proves it, once, and it may bring orders', async () => {
  const { shop, id } = await makeIndeterminate({ phone: makePhone(1) })
  const usage = { used: 1, reserved: 0 }
  expect(await readCounts(shop)).toMatchObject({ ledger: ['messaging failed'], touches: [], usage })
  await reportStatus(shop, id, 'delivered', 2)
  expect(await shop.one(id)).toMatchObject({ status: 'failed' })
  for (let i = 0; i < 2; i += 1) await reportStatus(shop, id, 'delivered')
  expect(await shop.one(id)).toMatchObject({
    status: 'sent',
    reason: null,
    sentAt: '2026-11-20T12:00:00.000Z',
    deliveredAt: expect.any(String),
  })
  expect(await readCounts(shop)).toMatchObject({ touches: ['messaging'], usage })
  // `delivered` wins.
  await reportStatus(shop, id, 'failed')
  expect(await shop.one(id)).toMatchObject({ status: 'sent', reason: null })
})

test('an alert is counted the same after its contact was erased', async () => {
  const { shop, id } = await makeIndeterminate({ phone: makePhone(2) })
  const before = await readCounts(shop)
  expect((await shop.call(deleteSubscription, { params: { notificationId: id } })).status).toBe(204)
  await reportStatus(shop, id, 'delivered')
  expect(await readCounts(shop)).toEqual(before)
})

test('an indeterminate email counts as failed, and brings no order', async () => {
  const { shop } = await makeIndeterminate({ email: makeEmail(3) })
  const usage = { used: 0, reserved: 0 }
  expect(await readCounts(shop)).toEqual({ ledger: ['email failed'], touches: [], usage })
})

test('a recipient who stopped messages is opted out, with the reason of subscriptions', async () => {
  const shop = await stockShop(app)
  await shop.ask({ phone: makePhone(4) })
  await shop.restock(9)
  const { id } = (await shop.all())[0]
  await reportStatus(shop, id, 'failed')
  expect(await shop.one(id)).toMatchObject({ status: 'failed', reason: 'opted-out' })
  const key = phoneKey(makePhone(4))
  expect([...(await optOuts.findOptedOut(await shop.context(), [key]))]).toEqual([key])
  expect(await readCounts(shop)).toMatchObject({
    touches: ['messaging void'],
    usage: { used: 1, reserved: 0 },
  })
})

test('a mail server that defers some addresses delays no others', async () => {
  const shop = await stockShop(app)
  for (let n = 0; n < 20; n += 1) await shop.ask({ email: `${n}+down@example.com` })
  for (let n = 0; n < 3; n += 1) await shop.ask({ email: makeEmail(n) })
  await shop.restock(null)
  const statuses = (await shop.all()).map((row) => row.status)
  expect(statuses).toEqual([...Array(20).fill('sending'), ...Array(3).fill('sent')])
})
