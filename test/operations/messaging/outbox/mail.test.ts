/** A mail provider that throttles is retried after the time it asks for, in every source that sends mail. */
import { expect, test } from 'vitest'
import { outbox } from '#operations/messaging/index'
import sendDispatchesNow from '#operations/reviews/requests/api/send-dispatches-now'
import { Throttled } from '#runtime/ports/errors'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { approve, requested } from '#test/operations/exchanges/support'
import { reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { post } from '#test/support/numbers'
import { stockShop } from '#test/support/stock'
import type { Shop } from '#test/support/store'

const app = await testApp({ storefrontAcceptedIp: 1000 })
const noon = '2026-11-20T15:00:00.000Z'
const { mail } = app.services.adapters
const send = mail.send.bind(mail)
let busyUntil = 0
let calls = 0
Object.assign(mail, {
  send: async (message: Parameters<typeof send>[0]) => {
    calls += 1
    if (app.clock.ms() < busyUntil) throw new Throttled(busyUntil - app.clock.ms())
    return send(message)
  },
} satisfies Pick<typeof mail, 'send'>)

const customer = { name: 'Ana', email: 'ana@example.com' }
const drivers: Record<string, () => Promise<{ shop: Shop; go(): Promise<unknown> }>> = {
  async rv() {
    const shop = await reviewShop(app)
    await shop.settings({ request: { isEnabled: true, channel: 'email', delayDays: 1 } })
    const order = await shop.place({ customer, items: [{ variantId: '2001', quantity: 1 }] })
    await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
    await app.drainJobs()
    return { shop, go: () => shop.call(sendDispatchesNow, { body: { all: true } }) }
  },
  async ex() {
    const shop = await exchangeShop(app)
    const request = await requested(shop)
    await app.drainJobs()
    return { shop, go: () => approve(shop, request.id) }
  },
  async st() {
    const shop = await stockShop(app, { connection: null })
    await shop.ask({ email: customer.email })
    const go = () => post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock: 9 })
    return { shop, go }
  },
}

test.each(Object.keys(drivers))('%s', async (kind) => {
  await app.setClock(noon)
  const { shop, go } = await drivers[kind]!()
  const source = app.services.extensions.senders[kind] as unknown as outbox.OutboxSource
  const newest = async (): Promise<outbox.MessageState> => {
    const rows = await outbox
      .selectMessages(await shop.context(), source)
      .orderBy('m.created_at', 'desc')
      .execute()
    return rows[0] as unknown as outbox.MessageState
  }
  busyUntil = app.clock.ms() + 3 * 60_000
  calls = 0
  await go()
  await app.drainJobs()
  await app.advance(2 * 60_000)
  await app.drainJobs()
  expect(await newest()).toMatchObject({ sentAt: null, code: null })
  // Once, and not again before that time.
  expect(calls).toBe(1)
  await app.advance(61_000)
  await app.drainJobs()
  expect((await newest()).sentAt).not.toBeNull()
})
