/** Figures of attributed sales (statistics, rules 4 to 7): amounts, currencies, refunds, products. */
import { describe, expect, test } from 'vitest'
import getRecoveredTotal from '#operations/statistics/conversions/api/get-recovered-total'
import getSummary from '#operations/statistics/conversions/api/get-summary'
import listConversions from '#operations/statistics/conversions/api/list-conversions'
import listOrders from '#operations/statistics/orders/api/list-orders'
import getStatistics from '#operations/statistics/statistics/api/get-statistics'
import listProducts from '#operations/statistics/statistics/api/list-products'
import { recordTouches, type Touch, voidTouches } from '#operations/store/conversions/attribution'
import getDashboard from '#operations/store/dashboard/api/get-dashboard'
import getDashboardOverview from '#operations/store/dashboard/api/get-overview'
import { addToLedger, type LedgerRow } from '#operations/store/quota/ledger'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import { type CallInput, type Shop, store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
await app.setClock('2026-11-25T15:00:00.000Z')
const sourceTypes = ['automation', 'messaging-campaign', 'newsletter', 'stock-notification'] as const
type Source = (typeof sourceTypes)[number]

let people = 0
const person = () => {
  people += 1
  return { name: 'Ana', phone: `+55119${String(80_000_000 + people)}` }
}

/** Records a message of a source to a person an hour earlier; returns its id. */
async function touch(
  shop: Shop,
  phone: string,
  placedAt: string,
  change: Partial<Touch> = {},
): Promise<string> {
  const messageId = newId(app.clock.ms())
  const touchedAt = new Date(Date.parse(placedAt) - 3_600_000)
  const ctx = await shop.context()
  await ctx.transaction((tx) =>
    recordTouches(tx, [
      {
        sourceType: 'automation',
        sourceId: 'a1',
        sourceName: 'Carts',
        channel: 'messaging',
        messageId,
        phone,
        email: null,
        touchedAt,
        ...change,
      },
    ]),
  )
  return messageId
}

/** Sells an order attributed to a source. */
async function sellAttributed(
  shop: ConnectedShop,
  sourceType: Source,
  placedAt: string,
  order: Parameters<ConnectedShop['sell']>[0] = {},
) {
  const customer = person()
  await touch(shop, customer.phone, placedAt, { sourceType })
  return shop.sell({ customer, placedAt, ...order })
}

const range = { startDate: '2026-11-01', endDate: '2026-11-25' }
const readFigures = async (
  shop: Shop,
  operation: Parameters<Shop['call']>[0],
  query: CallInput['query'] = {},
) => {
  const { status, body } = await shop.call(operation, { query })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const summary = (shop: Shop, query: CallInput['query'] = {}) =>
  readFigures(shop, getSummary, { ...range, ...query })
const conversions = (shop: Shop, query: CallInput['query'] = {}) =>
  readFigures(shop, listConversions, { sourceType: 'automation', ...range, ...query })

describe('revenue of conversions', () => {
  test('a cancelled order brings no revenue, and is listed on request', async () => {
    const shop = await connectedStore(app)
    const order = await sellAttributed(shop, 'newsletter', '2026-11-20T12:00:00.000Z')
    await shop.resell(order, { status: 'cancelled' })
    expect((await summary(shop)).totals.orders).toBe(0)
    const asked = { sourceType: 'newsletter', status: 'cancelled' }
    expect((await conversions(shop, asked)).data).toMatchObject([{ orderId: order.id, status: 'cancelled' }])
  })

  test('the four sources, the summary and the recovered total agree', async () => {
    const shop = await connectedStore(app)
    for (const [at, sourceType] of sourceTypes.entries()) {
      for (let n = 0; n <= at; n += 1) await sellAttributed(shop, sourceType, `2026-11-1${at}T12:00:00.000Z`)
    }
    const lists = await Promise.all(sourceTypes.map((sourceType) => conversions(shop, { sourceType })))
    expect(lists.map((list) => list.total)).toEqual([1, 2, 3, 4])
    const revenue = lists.flatMap((list) => list.data).reduce((sum, each) => sum + each.revenue, 0)
    const { totals } = await summary(shop)
    expect(totals).toMatchObject({ orders: 10, revenue })
    expect(Object.values(totals.bySource).map((each) => (each as { orders: number }).orders)).toEqual([
      1, 2, 3, 4,
    ])
    expect((await readFigures(shop, getRecoveredTotal)).data).toEqual([
      { currency: 'BRL', orders: 10, revenue },
    ])
  })
})

describe('several currencies', () => {
  test('are never added together', async () => {
    const shop = await connectedStore(app)
    await sellAttributed(shop, 'automation', '2026-11-20T12:00:00.000Z')
    await sellAttributed(shop, 'automation', '2026-11-20T13:00:00.000Z', { currency: 'USD' })
    await sellAttributed(shop, 'automation', '2026-11-20T14:00:00.000Z', { currency: 'EUR' })
    const own = await summary(shop)
    expect(own).toMatchObject({ currency: 'BRL', totals: { orders: 1, revenue: 100 } })
    expect([...own.currencies].sort()).toEqual(['BRL', 'EUR', 'USD'])
    expect(await summary(shop, { currency: 'USD' })).toMatchObject({ currency: 'USD', totals: { orders: 1 } })
    expect((await summary(shop, { currency: 'JPY' })).totals).toMatchObject({ orders: 0, revenue: 0 })
    expect(
      (await readFigures(shop, getRecoveredTotal)).data.map((each: { currency: string }) => each.currency),
    ).toEqual(['BRL', 'EUR', 'USD'])
    expect((await conversions(shop)).total).toBe(3)
    expect((await conversions(shop, { currency: 'EUR' })).total).toBe(1)
    expect(await readFigures(shop, getStatistics, range)).toMatchObject({
      conversions: 1,
      revenue: 100,
      currency: 'BRL',
    })
    expect((await readFigures(shop, listProducts, { ...range, currency: 'USD' })).data).toMatchObject([
      { orders: 1 },
    ])
    const orders = await readFigures(shop, listOrders, range)
    expect(orders.totals).toHaveLength(3)
  })

  test('the store’s own currency comes first in the recovered total, even at 0', async () => {
    const shop = await connectedStore(app)
    await sellAttributed(shop, 'automation', '2026-11-20T12:00:00.000Z', { currency: 'AED' })
    expect((await readFigures(shop, getRecoveredTotal)).data).toMatchObject([
      { currency: 'BRL', orders: 0, revenue: 0 },
      { currency: 'AED', orders: 1 },
    ])
  })
})

describe('products', () => {
  test('a refund without lines is spread to the cent, and not over shipping', async () => {
    const shop = await connectedStore(app)
    const order = await sellAttributed(shop, 'automation', '2026-11-20T12:00:00.000Z', {
      items: [
        { variantId: '2001', quantity: 1 },
        { variantId: '2002', quantity: 1 },
      ],
      shipping: 20,
    })
    await shop.resell(order, { refundAmount: 50 })
    // Two variants of one product: 86.67 + 43.33.
    const { data } = await readFigures(shop, listProducts, range)
    expect(data).toMatchObject([{ productId: '1001', orders: 1, units: 2, revenue: 130, revenueShare: 100 }])
    const [conversion] = (await conversions(shop)).data
    expect(
      conversion.products.map((line: { total: number; refundedTotal: number }) => line.refundedTotal),
    ).toEqual([33.33, 16.67])
  })

  test('products show units less refunds and shares of matching rows, and can be sorted, searched and paged', async () => {
    const shop = await connectedStore(app)
    const mugs = await sellAttributed(shop, 'automation', '2026-11-20T12:00:00.000Z', {
      items: [{ variantId: '2001', quantity: 3 }],
    })
    await shop.resell(mugs, { refundItems: [{ variantId: '2001', quantity: 1 }] })
    await sellAttributed(shop, 'newsletter', '2026-11-21T12:00:00.000Z')
    await sellAttributed(shop, 'newsletter', '2026-11-21T13:00:00.000Z')
    const all = await readFigures(shop, listProducts, range)
    expect(all.data).toMatchObject([
      { productId: '1001', units: 2, revenue: 240, orders: 1, revenueShare: 54.5 },
      { productId: '1002', units: 2, revenue: 200, orders: 2, revenueShare: 45.5 },
    ])
    expect(all.data[1].bySource.newsletter).toMatchObject({ orders: 2, units: 2, revenue: 200 })
    const ids = async (query: CallInput['query']) =>
      (await readFigures(shop, listProducts, { ...range, ...query })).data.map(
        (each: { productId: string }) => each.productId,
      )
    expect(await ids({ sort: '-orders' })).toEqual(['1002', '1001'])
    expect(await ids({ sort: 'name' })).toEqual(['1002', '1001'])
    expect(await ids({ search: 'canec' })).toEqual(['1001'])
    expect(await ids({ sourceType: 'newsletter' })).toEqual(['1002'])
    expect(await ids({ page: 9 })).toEqual([])
  })
})

describe('GET /statistics', () => {
  const send = async (shop: Shop, source: LedgerRow['source'], status: string, sentAt: string) => {
    const row: LedgerRow = {
      messageId: newId(app.clock.ms()),
      channel: 'messaging',
      source,
      sourceId: null,
      phone: null,
      email: null,
      providerMessageId: null,
      status: status as LedgerRow['status'],
      sentAt: new Date(sentAt),
    }
    await (await shop.context()).transaction((tx) => addToLedger(tx, [row], null))
  }

  test('the eight features add up to the totals, with rates of sent messages', async () => {
    const shop = await connectedStore(app)
    await send(shop, 'automation', 'read', '2026-11-20T10:00:00.000Z')
    await send(shop, 'automation', 'delivered', '2026-11-20T10:00:00.000Z')
    await send(shop, 'messaging-campaign', 'failed', '2026-11-21T10:00:00.000Z')
    await send(shop, 'inbox', 'sent', '2026-11-21T10:00:00.000Z')
    await sellAttributed(shop, 'automation', '2026-11-20T12:00:00.000Z')
    await sellAttributed(shop, 'automation', '2026-11-21T12:00:00.000Z', { paymentStatus: 'pending' })
    await touch(shop, '+5511900000001', '2026-11-20T12:00:00.000Z')
    const body = await readFigures(shop, getStatistics, range)
    expect(body).toMatchObject({
      messagesSent: 4,
      emailsSent: 0,
      read: 1,
      failed: 1,
      conversions: 1,
      revenue: 100,
      averageOrderValue: 100,
      conversionRate: 33.33,
    })
    expect(body.byFeature).toHaveLength(8)
    for (const key of ['messagesSent', 'delivered', 'read', 'failed', 'conversions', 'revenue']) {
      const sum = body.byFeature.reduce(
        (total: number, each: Record<string, number>) => total + each[key]!,
        0,
      )
      expect([key, sum]).toEqual([key, body[key]])
    }
    expect(body.byDay).toHaveLength(25)
    expect(body.byDay[19]).toMatchObject({
      date: '2026-11-20',
      messagesSent: 2,
      conversions: 1,
      revenue: 100,
    })
  })

  test('rates are null if nothing was sent or sold', async () => {
    const shop = await connectedStore(app)
    expect(await readFigures(shop, getStatistics, range)).toMatchObject({
      conversions: 0,
      averageOrderValue: null,
      conversionRate: null,
    })
  })
})

describe('invalid queries', () => {
  test('a range of 366 days is refused', async () => {
    const shop = await connectedStore(app)
    const query = { startDate: '2025-11-20', endDate: '2026-11-20' }
    for (const operation of [getStatistics, listOrders])
      expect((await shop.call(operation, { query })).status).toBe(400)
  })

  test('an unknown source and a page beyond the end are empty, and orders of a never connected store are a 409', async () => {
    const shop = await connectedStore(app)
    await sellAttributed(shop, 'automation', '2026-11-20T12:00:00.000Z')
    expect((await conversions(shop, { sourceId: 'nobody' })).data).toEqual([])
    expect(await conversions(shop, { page: 50 })).toMatchObject({ data: [], page: 50, total: 1 })
    const alone = await store(app)
    await (await alone.context()).db.deleteFrom('connections').execute()
    expect((await alone.call(listOrders)).status).toBe(409)
  })
})

describe('sums and rows', () => {
  test.runIf(isFullSuite)('agree after a hundred changes in any order', async () => {
    const shop = await connectedStore(app)
    let seed = 20_261_121
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * below)
    }
    const pick = <T>(items: readonly T[]): T => items[random(items.length)]!
    const orders: { id: string }[] = []
    const messages: string[] = []
    for (let step = 0; step < 100; step += 1) {
      const what = random(10)
      if (what < 4 || orders.length === 0) {
        const placedAt = `2026-11-${String(1 + random(25)).padStart(2, '0')}T${String(random(15)).padStart(2, '0')}:30:00.000Z`
        const customer = person()
        messages.push(await touch(shop, customer.phone, placedAt, { sourceType: pick(sourceTypes) }))
        const order = await shop.place({
          customer,
          placedAt,
          items: [{ variantId: pick(['2001', '2002', '2003']), quantity: 1 + random(3) }],
          paymentStatus: pick(['paid', 'pending'] as const),
        })
        await shop.deliver(order)
        orders.push(order)
      } else if (what < 9) {
        const change = pick([
          { paymentStatus: 'paid' },
          { refundAmount: 10 + random(20) },
          { status: 'cancelled' },
          { paymentStatus: 'voided' },
        ] as const)
        try {
          await shop.deliver(await shop.change(pick(orders), change))
        } catch {
          // The platform refuses to refund more than remains, and nothing changes.
        }
      } else {
        const ctx = await shop.context()
        await ctx.transaction((tx) => voidTouches(tx, [pick(messages)]))
      }
      if (step % 10 !== 9) continue
      await app.drainJobs()
      const rows = await (await shop.context()).db
        .selectFrom('conversions')
        .select(['revenue', 'status'])
        .where('status', 'in', ['confirmed', 'partially-refunded'])
        .execute()
      const revenue = rows.reduce((sum, row) => sum + Math.round(Number(row.revenue) * 100), 0) / 100
      const { totals, data } = await summary(shop)
      expect(totals).toMatchObject({ orders: rows.length, revenue })
      const cents = data.reduce(
        (sum: number, each: { revenue: number }) => sum + Math.round(each.revenue * 100),
        0,
      )
      expect(cents / 100).toBe(revenue)
      const products = await readFigures(shop, listProducts, { ...range, limit: 100 })
      const sold = products.data.reduce(
        (sum: number, each: { revenue: number }) => sum + Math.round(each.revenue * 100),
        0,
      )
      expect(sold / 100).toBe(revenue)
      expect(await everything(shop)).toEqual(await withoutSums(shop, () => everything(shop)))
    }
  })

  /** All figures that are read from complete daily sums. */
  const everything = async (shop: Shop) => ({
    days: await summary(shop),
    months: await summary(shop, { groupBy: 'month' }),
    total: await readFigures(shop, getRecoveredTotal),
    statistics: await readFigures(shop, getStatistics, range),
    products: await readFigures(shop, listProducts, range),
    orders: (await readFigures(shop, listOrders, { ...range, limit: 1 })).totals,
    dashboard: await readFigures(shop, getDashboard, range),
    overview: await readFigures(shop, getDashboardOverview, { period: '30d' }),
  })

  /** The same figures from the rows, as during a rebuild for another zone. */
  async function withoutSums<T>(shop: Shop, run: () => Promise<T>): Promise<T> {
    const { db } = await shop.context()
    await db.updateTable('conversion_zones').set({ built_before: '2020-01-01' }).execute()
    try {
      return await run()
    } finally {
      await db.updateTable('conversion_zones').set({ built_before: null }).execute()
    }
  }
})
