/** Requests due during an outage (rule 3): they are sent at the set time, according to the current orders. */
import { expect, test } from 'vitest'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { isFullSuite } from '#test/support/suite'
import { reviewShop } from '../shop.ts'

const app = await testApp()
const sandbox = getSandbox(app.services.adapters.messaging)

async function createShopWithRequests() {
  await app.setClock('2026-03-10T12:00:00.000Z')
  const shop = await reviewShop(app)
  await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400010001' })
  const reminder = { isEnabled: true, delayDays: 1, maxReminders: 1 }
  await shop.settings({ request: { isEnabled: true, channel: 'messaging', delayDays: 1 }, reminder })
  const sell = async (phone: string) => {
    const customer = { name: 'Ana', email: `${phone}@example.com`, phone }
    const order = await shop.place({ customer, items: [{ variantId: '2001', quantity: 1 }] })
    await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
    await app.drainJobs()
    return order
  }
  const left = async () => (await sandbox.outbox(shop.id)).map(({ phone }) => phone)
  const at = async (instant: string) => {
    await app.setClock(instant)
    await app.drainJobs()
  }
  return { shop, sell, left, at }
}

test.runIf(isFullSuite)(
  'after an outage that ends at night, requests are sent in the morning, without returned items',
  async () => {
    const { shop, sell, left, at } = await createShopWithRequests()
    await sell('+5511988887777')
    const returned = await sell('+5511977776666')
    // Due at 10:00 in São Paulo, during the outage.
    await app.setClock('2026-03-11T12:00:00.000Z')
    await shop.change(returned, { status: 'cancelled' })
    await at('2026-03-12T06:00:00.000Z')
    expect(await left()).toEqual([])
    expect((await shop.dispatches()).map((row) => [row.status, row.reason, row.scheduled_at])).toEqual([
      ['scheduled', null, new Date('2026-03-12T13:00:00.000Z')],
      ['skipped', 'order-cancelled', expect.any(Date)],
    ])
    await at('2026-03-12T13:00:00.000Z')
    expect(await left()).toEqual(['+5511988887777'])
    // The reminder is late in the same way.
    await at('2026-03-14T02:00:00.000Z')
    expect(await left()).toHaveLength(1)
    await at('2026-03-14T13:00:00.000Z')
    expect(await left()).toHaveLength(2)
  },
)

test('after an outage that ends within three hours or by day, requests are sent at once', async () => {
  const { sell, left, at } = await createShopWithRequests()
  await sell('+5511988887777')
  await at('2026-03-11T15:59:00.000Z')
  expect(await left()).toHaveLength(1)
  await sell('+5511977776666')
  await at('2026-03-16T20:00:00.000Z')
  expect(await left()).toContain('+5511977776666')
})

test('after an outage of days that ends after the set time, requests are sent at once, according to the current orders', async () => {
  const { shop, sell, left } = await createShopWithRequests()
  const returned = await sell('+5511988887777')
  await sell('+5511977776666')
  await shop.change(returned, { status: 'cancelled' })
  await app.setClock('2026-03-20T14:00:00.000Z')
  // Scanning nine days of orders takes long: postpones its scheduled job.
  const next_at = new Date('2026-03-20T14:10:00.000Z')
  await app.database.root
    .updateTable('job_schedules')
    .set({ next_at })
    .where('name', '=', 'orders-sync-all')
    .execute()
  await app.drainJobs()
  expect(await left()).toEqual(['+5511977776666'])
})
