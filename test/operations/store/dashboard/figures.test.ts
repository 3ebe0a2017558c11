import { beforeEach, describe, expect, test } from 'vitest'
import { recordTouches, type Touch } from '#operations/store/conversions/attribution'
import getDashboard from '#operations/store/dashboard/api/get-dashboard'
import getOverview from '#operations/store/dashboard/api/get-overview'
import { addToLedger, type LedgerRow } from '#operations/store/quota/ledger'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
/** Friday, 15:00 in São Paulo. */
const friday = '2026-11-20T18:00:00.000Z'
beforeEach(() => app.setClock(friday))

const customer = { name: 'Ana', phone: '+5511988887777' }
const touch = async (shop: Shop, touchedAt: string, change: Partial<Touch> = {}): Promise<string> => {
  const messageId = newId(app.clock.ms())
  const ctx = await shop.context()
  const made: Touch = {
    sourceType: 'messaging-campaign',
    sourceId: newId(app.clock.ms()),
    sourceName: 'Black Friday',
    channel: 'messaging',
    messageId,
    phone: customer.phone,
    email: null,
    touchedAt: new Date(touchedAt),
    ...change,
  }
  await ctx.transaction((tx) => recordTouches(tx, [made]))
  return messageId
}
const ledger = async (shop: Shop, sentAt: string, channel: 'messaging' | 'email' = 'messaging') => {
  const row: LedgerRow = {
    messageId: newId(app.clock.ms()),
    channel,
    source: 'direct',
    sourceId: null,
    phone: null,
    email: null,
    providerMessageId: null,
    status: 'sent',
    sentAt: new Date(sentAt),
  }
  await (await shop.context()).transaction((tx) => addToLedger(tx, [row], null))
}
const subscriber = async (shop: Shop, at: string) => {
  const id = newId(app.clock.ms())
  const row = { id, email: `${id}@example.com`, source: 'popup', created_at: at, updated_at: at }
  await (await shop.context()).db.insertInto('newsletter_subscribers').values(row).execute()
}
const setZone = async (shop: Shop, timezone: string) => {
  const ctx = await shop.context()
  await ctx.db.updateTable('stores').set({ timezone }).execute()
  await app.services.accessChanged(shop.id)
}

describe('GET /dashboard', () => {
  const day = async (shop: Shop, startDate: string, endDate = startDate) =>
    (await shop.call(getDashboard, { query: { startDate, endDate } })).body
  const counts = async (shop: Shop, days: string[]) =>
    Promise.all(days.map(async (each) => (await day(shop, each)).recoveredOrders))

  test('the channels add up to the totals, without unpaid, cancelled and foreign-currency orders', async () => {
    const shop = await connectedStore(app)
    await touch(shop, '2026-11-18T12:00:00.000Z', { sourceType: 'automation' })
    await shop.sell({ customer, placedAt: '2026-11-18T13:00:00.000Z' })
    const other = { customer: { email: 'rui@example.com' }, placedAt: '2026-11-19T13:00:00.000Z' }
    const items = [{ variantId: '2001', quantity: 1 }]
    const direct = await shop.sell({ ...other, items })
    await shop.resell(direct, { refundAmount: 20.01 })
    await shop.sell({ ...other, paymentStatus: 'pending' })
    await shop.sell({ ...other, currency: 'USD' })
    await shop.resell(await shop.sell(other), { status: 'cancelled' })
    await subscriber(shop, '2026-11-19T23:00:00.000Z')
    await subscriber(shop, '2026-10-20T23:00:00.000Z')
    const answer = await shop.call(getDashboard)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      startDate: '2026-10-22',
      endDate: '2026-11-20',
      timezone: 'America/Sao_Paulo',
      currency: 'BRL',
      recoveredRevenue: 100,
      recoveredOrders: 1,
      totalRevenue: 199.99,
      totalOrders: 2,
      recoveredShare: 50,
      salesByChannel: [
        { channel: 'automation', orders: 1, revenue: 100 },
        { channel: 'messaging-campaign', orders: 0, revenue: 0 },
        { channel: 'newsletter', orders: 0, revenue: 0 },
        { channel: 'stock-notification', orders: 0, revenue: 0 },
        { channel: 'direct', orders: 1, revenue: 99.99 },
      ],
      newSubscribers: 1,
    })
  })

  test('a day ends with the last millisecond in the zone, and another zone moves it', async () => {
    const shop = await connectedStore(app)
    await touch(shop, '2026-11-19T12:00:00.000Z')
    await shop.sell({ customer, placedAt: '2026-11-20T02:59:59.999Z' })
    await shop.sell({ customer, placedAt: '2026-11-20T03:00:00.000Z' })
    expect(await counts(shop, ['2026-11-18', '2026-11-19', '2026-11-20'])).toEqual([0, 1, 1])
    await setZone(shop, 'America/New_York')
    expect(await counts(shop, ['2026-11-19', '2026-11-20'])).toEqual([2, 0])
  })

  test('a range has at most 365 days, and a store without orders has zeros', async () => {
    const shop = await store(app)
    const call = (startDate: string, endDate: string) =>
      shop.call(getDashboard, { query: { startDate, endDate } })
    const { status, body } = await call('2025-11-21', '2026-11-20')
    const zeros = { totalOrders: 0, totalRevenue: 0, recoveredShare: null, newSubscribers: 0 }
    expect([status, body]).toMatchObject([200, zeros])
    expect((await call('2025-11-20', '2026-11-20')).status).toBe(400)
  })
})

describe('GET /dashboard/overview', () => {
  const overview = async (shop: Shop, period?: string) => {
    const answer = await shop.call(getOverview, period ? { query: { period } } : {})
    expect(answer.status).toBe(200)
    return answer.body
  }

  test('7 days to Friday 15:00 are compared with the previous 7, cut at the same hour', async () => {
    const shop = await connectedStore(app)
    const body = await overview(shop)
    expect(body).toMatchObject({
      period: '7d',
      granularity: 'day',
      timezone: 'America/Sao_Paulo',
      currency: 'BRL',
      startAt: '2026-11-14T03:00:00.000Z',
      endAt: friday,
      previousStartAt: '2026-11-07T03:00:00.000Z',
      previousEndAt: '2026-11-13T18:00:00.000Z',
    })
    const { series } = body.metrics.messagesSent
    expect(series.map((each: { at: string }) => each.at)).toEqual(
      Array.from({ length: 7 }, (_, i) => `2026-11-${14 + i}T03:00:00.000Z`),
    )
    expect(series.map((each: { isPartial: boolean }) => each.isPartial)).toEqual([
      ...Array.from({ length: 6 }, () => false),
      true,
    ])
  })

  test('counts each instant in its bucket, and leaves out instants between the periods', async () => {
    const shop = await connectedStore(app)
    for (const at of [
      '2026-11-07T02:59:59.999Z', // before both
      '2026-11-07T03:00:00.000Z', // first instant of the period before
      '2026-11-13T18:00:00.000Z', // its last
      '2026-11-13T18:00:00.001Z', // between
      '2026-11-14T02:59:59.999Z', // between
      '2026-11-14T03:00:00.000Z', // first of the period
      '2026-11-20T02:59:59.999Z', // its last but one day
      friday, // its last
    ]) {
      await ledger(shop, at)
      await subscriber(shop, at)
    }
    await ledger(shop, '2026-11-20T12:00:00.000Z', 'email')
    const { messagesSent, newSubscribers } = (await overview(shop)).metrics
    for (const metric of [messagesSent, newSubscribers]) {
      expect(metric).toMatchObject({ value: 3, previousValue: 2, changePercent: 50 })
      const of = (name: string) => metric.series.map((each: Record<string, number>) => each[name])
      expect(of('value')).toEqual([1, 0, 0, 0, 0, 1, 1])
      expect(of('previousValue')).toEqual([1, 0, 0, 0, 0, 0, 1])
    }
  })

  test('revenue, carts, conversion rate and channels are compared with the previous period', async () => {
    const shop = await connectedStore(app)
    const cart = { sourceType: 'automation', automationType: 'abandoned-cart', sourceName: 'Carts' } as const
    await touch(shop, '2026-11-10T12:00:00.000Z', cart)
    await shop.sell({ customer, placedAt: '2026-11-10T13:00:00.000Z' })
    await touch(shop, '2026-11-18T12:00:00.000Z', cart)
    await touch(shop, '2026-11-18T12:00:00.000Z', { phone: '+5511900000000' })
    await touch(shop, '2026-11-19T12:00:00.000Z', { phone: '+5511900000001', channel: 'email' })
    await shop.sell({
      customer,
      placedAt: '2026-11-18T13:00:00.000Z',
      items: [{ variantId: '2001', quantity: 1 }],
    })
    const last = await shop.sell({ customer, placedAt: '2026-11-19T13:00:00.000Z' })
    await shop.resell(last, { refundAmount: 10.5 })
    await shop.sell({ customer: { email: 'rui@example.com' }, placedAt: '2026-11-20T13:00:00.000Z' })
    const body = await overview(shop)
    expect(body.metrics.recoveredRevenue).toMatchObject({
      value: 209.5,
      previousValue: 100,
      changePercent: 109.5,
    })
    expect(body.metrics.recoveredRevenue.series.map((each: { value: number }) => each.value)).toEqual([
      0, 0, 0, 0, 120, 89.5, 0,
    ])
    expect(body.metrics.cartsRecovered).toMatchObject({ value: 2, previousValue: 1, changePercent: 100 })
    expect(body.metrics.conversionRate).toMatchObject({
      value: 33.33,
      previousValue: 100,
      changePercent: -66.7,
    })
    expect(body.metrics.conversionRate.series.map((each: { value: number | null }) => each.value)).toEqual([
      null,
      null,
      null,
      null,
      50,
      0,
      null,
    ])
    expect(body.metrics.stockAlertRequests).toMatchObject({ value: 0, previousValue: 0, changePercent: null })
    expect(body.revenueByChannel).toEqual([
      { channel: 'automation', orders: 2, revenue: 209.5, previousRevenue: 100 },
      { channel: 'messaging-campaign', orders: 0, revenue: 0, previousRevenue: 0 },
      { channel: 'newsletter', orders: 0, revenue: 0, previousRevenue: 0 },
      { channel: 'stock-notification', orders: 0, revenue: 0, previousRevenue: 0 },
      { channel: 'direct', orders: 1, revenue: 100, previousRevenue: 0 },
    ])
    expect(body.latestSales).toMatchObject([
      {
        orderNumber: last.number,
        revenue: 89.5,
        sourceType: 'automation',
        sourceName: 'Carts',
        customerName: 'Ana',
      },
      { revenue: 120, placedAt: '2026-11-18T13:00:00.000Z' },
      { revenue: 100, placedAt: '2026-11-10T13:00:00.000Z' },
    ])
    expect(body.recentReviews).toEqual([])
  })

  test('24 hours are hours of the zone up to now, compared with the same hours of the previous day', async () => {
    await app.setClock('2026-11-20T18:20:30.000Z')
    const shop = await connectedStore(app, { timezone: 'Asia/Kolkata', country: 'IN', currency: 'INR' })
    for (const at of [
      '2026-11-18T18:30:00.000Z', // first instant of the day before
      '2026-11-19T18:20:30.000Z', // its last
      '2026-11-19T18:29:59.999Z', // between
      '2026-11-19T18:30:00.000Z', // first of the last 24 hours
      '2026-11-20T18:20:30.000Z', // now
    ]) {
      await ledger(shop, at)
    }
    const body = await overview(shop, '24h')
    expect(body).toMatchObject({
      granularity: 'hour',
      startAt: '2026-11-19T18:30:00.000Z',
      previousStartAt: '2026-11-18T18:30:00.000Z',
      previousEndAt: '2026-11-19T18:20:30.000Z',
    })
    const { series, value, previousValue } = body.metrics.messagesSent
    expect([value, previousValue, series.length]).toEqual([2, 2, 24])
    expect(series[0]).toEqual({ at: body.startAt, value: 1, previousValue: 1, isPartial: false })
    expect(series[23]).toEqual({
      at: '2026-11-20T17:30:00.000Z',
      value: 1,
      previousValue: 1,
      isPartial: true,
    })
  })

  test('every period sums up to its value', async () => {
    await app.setClock('2027-11-20T18:00:00.000Z')
    const shop = await connectedStore(app)
    for (let i = 0; i < 200; i += 3) {
      await ledger(shop, new Date(app.clock.ms() - i * 86_400_000 * 0.97).toISOString())
    }
    for (const [period, buckets] of [
      ['24h', 24],
      ['7d', 7],
      ['30d', 30],
      ['90d', 90],
    ] as const) {
      const { messagesSent } = (await overview(shop, period)).metrics
      expect(messagesSent.series).toHaveLength(buckets)
      const sum = (name: string) =>
        messagesSent.series.reduce((total: number, each: Record<string, number>) => total + each[name]!, 0)
      expect([sum('value'), sum('previousValue')]).toEqual([messagesSent.value, messagesSent.previousValue])
      expect(messagesSent.value).toBeGreaterThan(0)
    }
  })

  test('pending items are counted within the plan, and notifications per reader', async () => {
    const wait = async (shop: Shop) => {
      const ctx = await shop.context()
      const at = { created_at: ctx.now(), updated_at: ctx.now() }
      const campaign = { name: 'A', content: '{}', ...at }
      await ctx.db
        .insertInto('campaigns')
        .values([
          { ...campaign, id: ctx.newId(), status: 'paused' },
          { ...campaign, id: ctx.newId(), status: 'paused', deleted_at: ctx.now() },
          { ...campaign, id: ctx.newId(), status: 'sending' },
        ])
        .execute()
      const template = { language: 'pt_BR', category: 'marketing', body: 'Hi', ...at }
      await ctx.db
        .insertInto('message_templates')
        .values([
          { ...template, name: 'one', status: 'rejected' },
          { ...template, name: 'two', status: 'approved' },
        ])
        .execute()
      const notices = [null, null, [shop.userId], [newId(0)]].map((recipients) => ({
        id: ctx.newId(),
        title: 'Hello',
        recipient_ids: recipients,
        ...at,
      }))
      await ctx.db.insertInto('notifications').values(notices).execute()
      const read = { notification_id: notices[0]!.id, user_id: shop.userId, read_at: ctx.now() }
      await ctx.db.insertInto('notification_reads').values(read).execute()
    }
    const shop = await store(app)
    await wait(shop)
    const counts = async (of: Shop, key = of.key) => {
      const { body } = await of.call(getOverview, { key })
      return body.pendingItems.map((each: { type: string; count: number }) => [each.type, each.count])
    }
    expect(await counts(shop)).toEqual([
      ['reviews-pending', 0],
      ['exchange-requests-pending', 0],
      ['conversations-unread', 0],
      ['campaigns-paused', 1],
      ['templates-rejected', 1],
      ['notifications-unread', 2],
    ])
    const marco = await shop.person('agent')
    expect((await counts(shop, marco.key)).at(-1)).toEqual(['notifications-unread', 2])
    const small = await store(app, { plan: 'starter' })
    await wait(small)
    expect((await counts(small)).slice(3)).toEqual([
      ['campaigns-paused', 0],
      ['templates-rejected', 1],
      ['notifications-unread', 2],
    ])
  })
})
