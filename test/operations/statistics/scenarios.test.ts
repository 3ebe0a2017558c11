/** From the platform's webhook to the figures, only through the hook and the API (store, rules 3, 4 and 9). */
import { expect, test } from 'vitest'
import getRecoveredTotal from '#operations/statistics/conversions/api/get-recovered-total'
import getSummary from '#operations/statistics/conversions/api/get-summary'
import listConversions from '#operations/statistics/conversions/api/list-conversions'
import listOrders from '#operations/statistics/orders/api/list-orders'
import { recordTouches, type Touch } from '#operations/store/conversions/attribution'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
await app.setClock('2026-11-25T15:00:00.000Z')
const range = { startDate: '2026-11-01', endDate: '2026-11-25' }
let people = 0
const person = () => {
  people += 1
  return { name: 'Ana', phone: `+55119${String(81_000_000 + people)}` }
}

async function touch(shop: ConnectedShop, change: Partial<Touch>): Promise<void> {
  const ctx = await shop.context()
  await ctx.transaction((tx) =>
    recordTouches(tx, [
      {
        sourceType: 'automation',
        sourceId: 'a1',
        sourceName: 'Carts',
        channel: 'messaging',
        messageId: newId(app.clock.ms()),
        phone: null,
        email: null,
        touchedAt: app.clock.now(),
        ...change,
      },
    ]),
  )
}

async function read(shop: ConnectedShop, operation: Parameters<ConnectedShop['call']>[0], query: object) {
  const { status, body } = await shop.call(operation, { query: query as Record<string, string> })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const readConversions = (shop: ConnectedShop, sourceType: string) =>
  read(shop, listConversions, { sourceType, ...range, status: 'all' })

test('one webhook delivered five times, twice concurrently, and then an older one, make one conversion', async () => {
  const shop = await connectedStore(app)
  const customer = person()
  await touch(shop, { phone: customer.phone, touchedAt: new Date('2026-11-20T11:00:00.000Z') })
  const unpaid = await shop.place({
    customer,
    placedAt: '2026-11-20T12:00:00.000Z',
    paymentStatus: 'pending',
    items: [{ variantId: '2003', quantity: 2 }],
  })
  const paid = await shop.change(unpaid, { paymentStatus: 'paid' })
  await Promise.all([shop.deliver(paid), shop.deliver(paid)])
  await app.drainJobs()
  for (let n = 0; n < 3; n += 1) await shop.deliver(paid)
  await app.drainJobs()
  const first = await readConversions(shop, 'automation')
  expect(first).toMatchObject({ total: 1, data: [{ status: 'confirmed', revenue: 200 }] })

  const refunded = await shop.change(unpaid, { refundAmount: 50 })
  await shop.deliver(refunded)
  await app.drainJobs()
  const before = await readConversions(shop, 'automation')
  expect(before.data).toMatchObject([{ status: 'partially-refunded', revenue: 150 }])
  for (const older of [paid, unpaid]) await shop.deliver(older)
  await app.drainJobs()
  expect(await readConversions(shop, 'automation')).toEqual(before)
  const { totals } = await read(shop, getSummary, range)
  expect(totals).toMatchObject({ orders: 1, revenue: 150 })
  const orders = await read(shop, listOrders, { ...range, search: customer.phone })
  expect(orders.data).toMatchObject([{ id: paid.id, attributedTo: 'automation' }])
  expect((await read(shop, getRecoveredTotal, {})).data).toEqual([
    { currency: 'BRL', orders: 1, revenue: 150 },
  ])
})

test.runIf(isFullSuite)(
  'while refunds come in, every summary is the sum of the rows of one moment',
  async () => {
    const shop = await connectedStore(app)
    const orders = []
    for (let n = 0; n < 50; n += 1) {
      const customer = person()
      const placedAt = `2026-11-${String(1 + (n % 25)).padStart(2, '0')}T12:00:00.000Z`
      await touch(shop, { phone: customer.phone, touchedAt: new Date(Date.parse(placedAt) - 1000) })
      orders.push(await shop.place({ customer, placedAt }))
    }
    await Promise.all(orders.map((order) => shop.deliver(order)))
    await app.drainJobs()
    const ctx = await shop.context()
    /** Rows and sums in one statement, so that no write comes between. */
    const moment = async () => {
      const [row] = await app.database.query<{ rows: string; sums: string }>(
        `select (select coalesce(sum(revenue), 0) from conversions where store_id = $1
          and status in ('confirmed', 'partially-refunded'))::text as rows,
        (select coalesce(sum(revenue), 0) from conversion_days where store_id = $1)::text as sums`,
        [ctx.store.id],
      )
      return row!
    }
    let isOver = false
    const samples: number[] = []
    const sampling = (async () => {
      while (!isOver) {
        const { rows, sums } = await moment()
        expect(Number(sums)).toBe(Number(rows))
        const { data, totals } = await read(shop, getSummary, range)
        const cents = data.map((each: { revenue: number }) => Math.round(each.revenue * 100))
        expect(cents.reduce((sum: number, each: number) => sum + each, 0)).toBe(
          Math.round(totals.revenue * 100),
        )
        samples.push(totals.revenue)
      }
    })()
    for (let at = 0; at < orders.length; at += 10) {
      const refunded = await Promise.all(
        orders.slice(at, at + 10).map((order) => shop.change(order, { refundAmount: 40 })),
      )
      await Promise.all(refunded.map((order) => shop.deliver(order)))
      await app.drainJobs()
    }
    isOver = true
    await sampling
    expect(samples.length).toBeGreaterThan(3)
    // Refunds only reduce revenue.
    expect(samples).toEqual([...samples].sort((a, b) => b - a))
    expect((await read(shop, getSummary, range)).totals).toMatchObject({ orders: 50, revenue: 3000 })
    expect(await moment()).toEqual({ rows: '3000.00', sums: '3000.00' })
  },
)
