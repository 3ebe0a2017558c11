/** A claimed request delayed by an outage is checked again before it is sent. */

import { describe, expect, test } from 'vitest'
import { optOuts } from '#operations/messaging/index'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import { reviewConfirmEmail } from '#operations/reviews/handles'
import sendDispatchesNow from '#operations/reviews/requests/api/send-dispatches-now'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type ReviewShop, reviewShop } from './shop.ts'

const app = await testApp()
const phone = '+5511988887777'
const sandbox = getSandbox(app.services.adapters.messaging)
const setColumns = async (
  shop: ReviewShop,
  table: 'orders' | 'order_items' | 'product_snapshots',
  set: object,
) => (await shop.context()).db.updateTable(table).set(set).execute()

interface Change {
  change(shop: ReviewShop): Promise<unknown>
  /** Expected result of a due request; `byHand`: of one sent manually. */
  is: [status: string, reason: string | null]
  byHand?: [status: string, reason: string | null]
}
const sent: Change['is'] = ['sent', null]
const changes: Record<string, Change> = {
  nothing: { change: async () => undefined, is: sent },
  'its order was cancelled': {
    change: (shop) => setColumns(shop, 'orders', { status: 'cancelled' }),
    is: ['skipped', 'order-cancelled'],
  },
  'its item was refunded': {
    change: (shop) => setColumns(shop, 'order_items', { refunded_quantity: 1 }),
    is: ['skipped', 'refunded'],
  },
  'its product was deleted': {
    change: (shop) => setColumns(shop, 'product_snapshots', { exists: false }),
    is: ['skipped', 'product-gone'],
  },
  'the customer reviewed it': {
    change: (shop) => shop.review({ email: 'ana@example.com', verified: true }),
    is: ['skipped', 'already-reviewed'],
  },
  'the customer opted out': {
    change: async (shop) => optOuts.add(await shop.context(), phone, 'manual'),
    is: ['skipped', 'opted-out'],
  },
  'requests were turned off': {
    change: (shop) => shop.settings({ request: { isEnabled: false } }),
    is: ['skipped', 'requests-disabled'],
    byHand: sent,
  },
  'reviews were turned off': {
    change: (shop) => shop.settings({ isEnabled: false }),
    is: ['skipped', 'requests-disabled'],
    byHand: sent,
  },
  'the number was disconnected': {
    change: async (shop) =>
      (await shop.context()).db
        .updateTable('messaging_connections')
        .set({ status: 'disconnected' })
        .execute(),
    // Sent once the number is connected again; failed after a day.
    is: ['sending', null],
  },
  // Sent when the plan is active again.
  'the plan was lost': {
    change: async (shop) =>
      (await shop.context()).db
        .updateTable('subscriptions')
        .set({ status: 'paused', paused_at: app.clock.now() })
        .execute(),
    is: ['sending', null],
  },
}

describe.each([false, true])('a request delayed by an outage (sent manually: %s)', (isByHand) => {
  test.each(Object.entries(changes))('%s', async (_name, { change, is, byHand = is }) => {
    await app.setClock('2026-03-10T12:00:00.000Z')
    const shop = await reviewShop(app)
    await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400010001' })
    await shop.settings({ request: { isEnabled: true, channel: 'messaging', delayDays: 1 } })
    const customer = { name: 'Ana', email: 'ana@example.com', phone }
    const order = await shop.place({ customer, items: [{ variantId: '2001', quantity: 1 }] })
    await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
    await app.drainJobs()
    await sandbox.setMode(shop.id, 'down')
    if (isByHand) {
      expect((await shop.call(sendDispatchesNow, { body: { all: true } })).status).toBe(202)
    } else await app.setClock('2026-03-11T13:01:00.000Z')
    await app.drainJobs()
    await sandbox.setMode(shop.id, 'up')
    const states = async () => (await shop.dispatches()).map((row) => [row.status, row.reason])
    expect(await states()).toEqual([['sending', null]])
    await change(shop)
    await app.advance(61_000)
    await app.drainJobs()
    const expected = isByHand ? byHand : is
    expect(await states()).toEqual([expected])
    expect(await sandbox.outbox(shop.id)).toHaveLength(expected[0] === 'sent' ? 1 : 0)
    const { used, reserved } = await app.database.root
      .selectFrom('usage_cycles')
      .select(['used', 'reserved'])
      .where('store_id', '=', shop.id)
      .executeTakeFirstOrThrow()
    expect([used, reserved]).toEqual([expected[0] === 'sent' ? 1 : 0, expected[0] === 'sending' ? 1 : 0])
  })
})

test.each([
  [29, 1],
  [30, 0],
])(
  'a confirmation link is valid for thirty days: after %i days its email is sent %i times',
  async (days, mails) => {
    await app.setClock('2026-03-10T12:00:00.000Z')
    const shop = await reviewShop(app)
    const email = `confirms-${days}@example.com`
    const reviewId = await shop.review({ email, verified: false })
    await app.advance(days * 24 * 3_600_000)
    await (await shop.context()).queue(reviewConfirmEmail, { reviewId })
    await app.drainJobs()
    expect(await shop.mails(email)).toHaveLength(mails)
  },
)
