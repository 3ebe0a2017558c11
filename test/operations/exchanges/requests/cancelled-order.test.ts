/** An order cancelled while its request waits: every step towards a refund warns. */
import { expect, test } from 'vitest'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { approve, confirm, listEvents, received, requested } from '#test/operations/exchanges/support'
import { testApp } from '#test/support/app'
import { readRows } from '#test/support/rows'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

test.each([false, true])('cancelled meanwhile: %s', async (isCancelled) => {
  const shop = await exchangeShop(app)
  const { id, order } = await requested(shop)
  if (isCancelled) {
    const ctx = await shop.context()
    await ctx.db.updateTable('orders').set({ status: 'cancelled' }).where('id', '=', order.id).execute()
  }
  for (const step of [approve, received, confirm]) expect((await step(shop, id)).status).toBe(200)
  const warnings = (await listEvents(shop, id)).filter((event) => event === 'order-cancelled')
  expect(warnings).toHaveLength(isCancelled ? 3 : 0)
  const notifications = await readRows(shop, 'notifications', ['level', 'data'], {
    type: 'exchange-order-cancelled',
  })
  expect(notifications).toEqual(
    isCancelled ? [{ level: 'warning', data: { requestId: id, orderId: order.id } }] : [],
  )
})
