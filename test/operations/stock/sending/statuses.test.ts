/** What becomes of alerts once they left, or may have: by a callback, late, or never. */
import { expect, test } from 'vitest'
import { optOuts } from '#operations/messaging/door'
import { alerts } from '#operations/stock/sending/lane'
import { runWave } from '#operations/stock/sending/waves'
import deleteSubscription from '#operations/stock/subscriptions/api/delete-subscription'
import { phoneKey } from '#runtime/values/phone'
import { testApp } from '#test/support/app'
import { post } from '#test/support/numbers'
import { rowsOf } from '#test/support/rows'
import { mailOf, phoneOf, type StockShop, stockShop } from '#test/support/stock'

const app = await testApp({ storefrontAcceptedIp: 1000 })
await app.setClock('2026-11-20T12:00:00.000Z')
const hour = 3_600_000

/** One that a worker died with after its call, and that nobody heard of for a day. */
async function lost(contact: object): Promise<{ shop: StockShop; id: string }> {
  const shop = await stockShop(app)
  expect((await shop.ask(contact)).status).toBe(201)
  await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock: 9 })
  await runWave(await shop.context(), '3001', new AbortController().signal)
  const { id } = (await shop.all())[0]
  const called = app.database.root.updateTable('stock_subscriptions').set({ called_at: app.clock.now() })
  await called.where('id', '=', id).execute()
  await app.advance(25 * hour)
  await app.drainJobs()
  expect(await shop.one(id)).toMatchObject({ status: 'failed', reason: 'unknown-outcome' })
  return { shop, id }
}

async function tell(shop: StockShop, messageId: string, status: 'delivered' | 'failed', attempt = 1) {
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

async function counted(shop: StockShop) {
  const ledger = await rowsOf(shop, 'message_ledger', ['channel', 'status'])
  const touches = await rowsOf(shop, 'attribution_touches', ['channel', 'voided_at'])
  return {
    ledger: ledger.map((each) => `${each.channel} ${each.status}`),
    touches: touches.map((each) => `${each.channel}${each.voided_at ? ' void' : ''}`),
    usage: await shop.usage(),
  }
}

test('one of which nobody knows whether it left counts; a callback proves it, once, and it may bring orders', async () => {
  const { shop, id } = await lost({ phone: phoneOf(1) })
  const usage = { used: 1, reserved: 0 }
  expect(await counted(shop)).toMatchObject({ ledger: ['messaging failed'], touches: [], usage })
  await tell(shop, id, 'delivered', 2)
  expect(await shop.one(id)).toMatchObject({ status: 'failed' })
  for (let i = 0; i < 2; i += 1) await tell(shop, id, 'delivered')
  expect(await shop.one(id)).toMatchObject({
    status: 'sent',
    reason: null,
    sentAt: '2026-11-20T12:00:00.000Z',
    deliveredAt: expect.any(String),
  })
  expect(await counted(shop)).toMatchObject({ touches: ['messaging'], usage })
  // Delivered wins.
  await tell(shop, id, 'failed')
  expect(await shop.one(id)).toMatchObject({ status: 'sent', reason: null })
})

test('whose contact was erased meanwhile is counted no other way', async () => {
  const { shop, id } = await lost({ phone: phoneOf(2) })
  const before = await counted(shop)
  expect((await shop.call(deleteSubscription, { params: { notificationId: id } })).status).toBe(204)
  await tell(shop, id, 'delivered')
  expect(await counted(shop)).toEqual(before)
})

test('an email of which nobody knows whether it left counts as failed, and brings no order', async () => {
  const { shop } = await lost({ email: mailOf(3) })
  const usage = { used: 0, reserved: 0 }
  expect(await counted(shop)).toEqual({ ledger: ['email failed'], touches: [], usage })
})

test('who stopped it is opted out, in the words of subscriptions', async () => {
  const shop = await stockShop(app)
  await shop.ask({ phone: phoneOf(4) })
  await shop.restock(9)
  const { id } = (await shop.all())[0]
  await tell(shop, id, 'failed')
  expect(await shop.one(id)).toMatchObject({ status: 'failed', reason: 'opted-out' })
  const key = phoneKey(phoneOf(4))
  expect([...(await optOuts.among(await shop.context(), [key]))]).toEqual([key])
  expect(await counted(shop)).toMatchObject({ touches: ['messaging void'], usage: { used: 1, reserved: 0 } })
})

test('a mail server that puts off some addresses holds up no other', async () => {
  const shop = await stockShop(app)
  for (let n = 0; n < 20; n += 1) await shop.ask({ email: `${n}+down@example.com` })
  for (let n = 0; n < 3; n += 1) await shop.ask({ email: mailOf(n) })
  await shop.restock(null)
  const statuses = (await shop.all()).map((row) => row.status)
  expect(statuses).toEqual([...Array(20).fill('sending'), ...Array(3).fill('sent')])
})
