/** Requests by messaging: quota, opt-outs, late failures, killed workers. */
import { describe, expect, test } from 'vitest'
import { optOuts } from '#operations/messaging/index'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import sendDispatchesNow from '#operations/reviews/requests/api/send-dispatches-now'
import { connectNumber } from '#scripts/seed/connect-number'
import { type ReviewShop, reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { setRows } from '#test/support/rows'

const app = await testApp()
const items = [
  { variantId: '2001', quantity: 1 },
  { variantId: '2003', quantity: 1 },
]
const outbox = (shop: ReviewShop) => getSandbox(app.services.adapters.messaging).outbox(shop.id)
const cycle = (shop: ReviewShop) =>
  app.database.root
    .selectFrom('usage_cycles')
    .select(['used', 'reserved', 'message_limit'])
    .where('store_id', '=', shop.id)
    .executeTakeFirstOrThrow()

async function deliverOrder(customer: Record<string, unknown>, settings: Record<string, unknown> = {}) {
  await app.setClock('2026-03-10T12:00:00.000Z')
  const shop = await reviewShop(app)
  await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400010001' })
  await shop.settings({ request: { channel: 'messaging-or-email', delayDays: 1 }, ...settings })
  const order = await shop.place({ customer, items })
  await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
  await app.drainJobs()
  return shop
}
const send = async (at = '2026-03-11T13:01:00.000Z'): Promise<void> => {
  await app.setClock(at)
  await app.drainJobs()
}
const statuses = async (shop: ReviewShop) =>
  (await shop.dispatches()).map((row) => [row.channel, row.status, row.reason])

describe('by messaging', () => {
  test('an order gets one message with its link, which uses one unit', async () => {
    const shop = await deliverOrder({ name: 'Ana Souza', email: 'ana@example.com', phone: '+5511988887777' })
    await send()
    const messages = await outbox(shop)
    expect(messages).toHaveLength(1)
    expect(JSON.stringify(messages[0]!.content)).toMatch(/Hi Ana! How was your Caneca.*reviews\/form\?token=/)
    expect(await statuses(shop)).toEqual([
      ['messaging', 'sent', null],
      ['messaging', 'sent', null],
    ])
    expect(await cycle(shop)).toMatchObject({ used: 1, reserved: 0 })
    expect(await shop.mails('ana@example.com')).toEqual([])
  })

  test('an opted-out customer is asked by email; with messaging only, not at all', async () => {
    const shop = await deliverOrder({ name: 'Ana', phone: '+5511988887701' })
    await optOuts.add(await shop.context(), '+5511988887702', 'manual')
    const plan = async (customer: Record<string, unknown>) => {
      const order = await shop.place({ customer, items: [{ variantId: '2001', quantity: 1 }] })
      await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
      await app.drainJobs()
      return (await statuses(shop)).at(-1)
    }
    const bia = { name: 'Bia', email: 'bia@example.com', phone: '+5511988887702' }
    expect(await plan(bia)).toEqual(['email', 'scheduled', null])
    await shop.settings({ request: { channel: 'messaging' } })
    expect(await plan(bia)).toEqual(['messaging', 'skipped', 'opted-out'])
    expect(await plan({ name: 'Cia', email: 'cia@example.com' })).toEqual([
      'messaging',
      'skipped',
      'no-contact',
    ])
  })

  test('without quota a request falls back to email, or is skipped without one', async () => {
    const both = await deliverOrder({ name: 'Ana', email: 'quota@example.com', phone: '+5511988887703' })
    await setRows(both, 'usage_cycles', { used: 100_000 })
    const [row] = await both.dispatches()
    const byHand = await both.call(sendDispatchesNow, { body: { ids: [row!.id] } })
    expect(byHand.status).toBe(403)
    expect((await both.dispatches())[0]!.status).toBe('scheduled')
    await send()
    expect(await statuses(both)).toEqual([
      ['email', 'sent', null],
      ['email', 'sent', null],
    ])
    expect(await both.mails('quota@example.com')).toHaveLength(1)

    const phoneOnly = await deliverOrder({ name: 'Ana', phone: '+5511988887704' })
    await setRows(phoneOnly, 'usage_cycles', { used: 100_000 })
    await send()
    expect(await statuses(phoneOnly)).toEqual([
      ['messaging', 'skipped', 'quota'],
      ['messaging', 'skipped', 'quota'],
    ])
  })

  test('a phone that is not on the network fails and its unit is released', async () => {
    const shop = await deliverOrder({ name: 'Ana', phone: '+5511988880001' })
    await send()
    expect(await statuses(shop)).toEqual([
      ['messaging', 'failed', 'not-on-network'],
      ['messaging', 'failed', 'not-on-network'],
    ])
    expect(await cycle(shop)).toMatchObject({ used: 0, reserved: 0 })
  })

  test('a late delivery failure fails the request; sending it manually uses a new key', async () => {
    const shop = await deliverOrder({ name: 'Ana', phone: '+5511988880002' })
    await send()
    await app.advance(5_000)
    await app.drainJobs()
    const rows = await shop.dispatches()
    expect(rows.map((row) => [row.status, row.reason])).toEqual([
      ['failed', 'undelivered'],
      ['failed', 'undelivered'],
    ])
    const { body } = await shop.call(sendDispatchesNow, { body: { ids: rows.map((row) => row.id) } })
    expect(body.queued).toBe(2)
    await app.drainJobs()
    const messages = await outbox(shop)
    expect(new Set(messages.map((message) => message.idempotencyKey)).size).toBe(2)
    expect(await cycle(shop)).toMatchObject({ used: 2, reserved: 0 })
  })

  test('while the number is disconnected a request waits for a day, then fails with a reason', async () => {
    const shop = await deliverOrder({ name: 'Ana', phone: '+5511988887705' })
    await setRows(shop, 'messaging_connections', { status: 'disconnected' })
    await send()
    expect((await statuses(shop)).map(([, status]) => status)).toEqual(['sending', 'sending'])
    await app.advance(24 * 3_600_000)
    await app.drainJobs()
    expect(await statuses(shop)).toEqual([
      ['messaging', 'failed', 'disconnected'],
      ['messaging', 'failed', 'disconnected'],
    ])
    expect(await cycle(shop)).toMatchObject({ used: 0, reserved: 0 })
  })
})
