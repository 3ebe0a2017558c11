import { describe, expect, test } from 'vitest'
import { attributeOrders } from '#operations/store/conversions/attribute-orders'
import {
  type ConversionChange,
  recordTouches,
  type Touch,
  voidTouches,
} from '#operations/store/conversions/attribution'
import { changeHours } from '#operations/store/conversions/attribution-hours'
import getDashboard from '#operations/store/dashboard/api/get-dashboard'
import { orderAttribute } from '#operations/store/handles'
import { upsertOrders } from '#operations/store/orders/orders'
import type { Context } from '#runtime/context'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'

const recorded: (ConversionChange & { storeId: string; source: string })[] = []
const recordChanges = (source: string) => [
  async (ctx: Context, changes: readonly ConversionChange[]) => {
    for (const change of changes) recorded.push({ ...change, storeId: ctx.store.id, source })
  },
]
const app = await testApp(
  {},
  {
    extensions: {
      conversionsChanged: {
        automation: recordChanges('automation'),
        'messaging-campaign': recordChanges('messaging-campaign'),
        newsletter: recordChanges('newsletter'),
        'stock-notification': recordChanges('stock-notification'),
      },
    },
  },
)
await app.setClock('2026-11-20T15:00:00.000Z')
const readChanges = (shop: ConnectedShop) =>
  recorded
    .filter((each) => each.storeId === shop.id)
    .map(({ source, before, after }) => [source, before?.status ?? null, after?.status ?? null])

const phone = '+5511988887777'
const buildTouch = (change: Partial<Touch>): Touch => ({
  sourceType: 'messaging-campaign',
  sourceId: newId(app.clock.ms()),
  sourceName: 'Black Friday',
  channel: 'messaging',
  messageId: newId(app.clock.ms()),
  phone,
  email: null,
  touchedAt: new Date('2026-11-14T12:00:00.000Z'),
  ...change,
})
const touch = async (shop: ConnectedShop, ...touches: Partial<Touch>[]): Promise<Touch[]> => {
  const made = touches.map(buildTouch)
  const ctx = await shop.context()
  await ctx.transaction((tx) => recordTouches(tx, made))
  return made
}
const conversions = async (shop: ConnectedShop) =>
  (await shop.context()).db.selectFrom('conversions').selectAll().orderBy('order_id').execute()
const readSources = async (shop: ConnectedShop) => (await conversions(shop)).map((each) => each.source_type)
const customer = { name: 'Ana', phone }
const placedAt = '2026-11-15T12:00:00.000Z'

describe('attribution to the last touch', () => {
  const campaign = {
    sourceType: 'messaging-campaign',
    touchedAt: new Date('2026-11-10T12:00:00.000Z'),
  } as const
  const automation = {
    sourceType: 'automation',
    automationType: 'abandoned-cart',
    sourceName: 'Carts',
    touchedAt: new Date('2026-11-14T12:00:00.000Z'),
  } as const

  test('an order is attributed to the last touch', async () => {
    const shop = await connectedStore(app)
    const [, made] = await touch(shop, campaign, automation)
    const order = await shop.sell({ customer, placedAt })
    expect(await conversions(shop)).toMatchObject([
      {
        order_id: order.id,
        order_number: order.number,
        status: 'confirmed',
        source_type: 'automation',
        source_id: made!.sourceId,
        source_name: 'Carts',
        automation_type: 'abandoned-cart',
        channel: 'messaging',
        message_id: made!.messageId,
        currency: 'BRL',
        order_total: '100.00',
        revenue: '100.00',
        touched_at: made!.touchedAt,
        placed_at: new Date(placedAt),
        paid_at: new Date(placedAt),
        customer: { id: order.customer.id, name: 'Ana', email: null, phone },
      },
    ])
    expect(readChanges(shop)).toEqual([['automation', null, 'confirmed']])
  })

  test('exactly 120 hours are within the window, a millisecond more is not', async () => {
    const shop = await connectedStore(app)
    await touch(shop, campaign)
    await shop.sell({ customer, placedAt })
    await shop.sell({ customer, placedAt: '2026-11-15T12:00:00.001Z' })
    await shop.sell({ customer, placedAt: '2026-11-10T12:00:00.000Z' })
    await shop.sell({ customer, placedAt: '2026-11-10T11:59:59.999Z' })
    expect((await conversions(shop)).map((each) => each.placed_at.toISOString())).toEqual([
      placedAt,
      '2026-11-10T12:00:00.000Z',
    ])
  })

  test('touches at the same instant rank automation, campaign, stock alert, newsletter, then by greater id', async () => {
    const shop = await connectedStore(app)
    const touchedAt = new Date('2026-11-15T11:00:00.000Z')
    const all = ['newsletter', 'stock-notification', 'messaging-campaign', 'automation'] as const
    for (let i = 1; i <= all.length; i += 1) {
      const email = `person${i}@example.com`
      await touch(
        shop,
        ...all.slice(0, i).map((sourceType) => ({ sourceType, email, phone: null, touchedAt })),
      )
      await shop.sell({ customer: { email: email.toUpperCase() }, placedAt })
    }
    expect(await readSources(shop)).toEqual([...all])
    const [, later] = await touch(shop, { touchedAt }, { touchedAt })
    const order = await shop.sell({ customer, placedAt })
    const last = (await conversions(shop)).find((each) => each.order_id === order.id)
    expect(last?.message_id).toBe(later!.messageId)
  })

  test('a touch matches by phone in either spelling, its own coupon or click token, not for another person', async () => {
    const shop = await connectedStore(app)
    await touch(shop, { phone: '+551188887777' })
    await touch(shop, { phone: null, couponCode: 'ANA-10' }, { phone: null, clickToken: 'click-9' })
    const stranger = { name: 'Rui', email: 'rui@example.com', phone: '+5521977776666' }
    await shop.sell({ customer, placedAt })
    await shop.sell({ customer: stranger, couponCode: 'ana-10', placedAt })
    await shop.sell({ customer: stranger, clickToken: 'click-9', placedAt })
    await shop.sell({ customer: stranger, couponCode: 'OTHER', clickToken: 'click-1', placedAt })
    expect((await conversions(shop)).map((each) => [each.order_id, each.coupon_code])).toEqual([
      ['9001', null],
      ['9002', 'ana-10'],
      ['9003', null],
    ])
  })

  test('a touch with a product needs an order of that product, in any variant', async () => {
    const shop = await connectedStore(app)
    await touch(shop, { sourceType: 'stock-notification', productId: '1001' })
    await shop.sell({ customer, placedAt, items: [{ variantId: '2003', quantity: 1 }] })
    await shop.sell({ customer, placedAt, items: [{ variantId: '2002', quantity: 1 }] })
    expect((await conversions(shop)).map((each) => each.order_id)).toEqual(['9002'])
  })

  test('the attribution window is the one in force when the order was placed', async () => {
    const shop = await connectedStore(app)
    await touch(shop, { touchedAt: new Date('2026-11-10T12:00:00.000Z') })
    const ctx = await shop.context()
    const stored = changeHours({}, { messagingCampaignHours: 24 }, new Date('2026-11-14T12:00:00.000Z'))
    await ctx.db
      .updateTable('stores')
      .set({ attribution: JSON.stringify(stored) })
      .execute()
    await shop.sell({ customer, placedAt: '2026-11-14T12:00:00.000Z' })
    await shop.sell({ customer, placedAt: '2026-11-14T12:00:00.001Z' })
    expect((await conversions(shop)).map((each) => each.order_id)).toEqual(['9001'])
  })

  test('recording a message twice makes one touch, and touches of another store do not count', async () => {
    const shop = await connectedStore(app)
    const other = await connectedStore(app)
    const [made] = await touch(shop, {})
    const ctx = await shop.context()
    await ctx.transaction((tx) => recordTouches(tx, [{ ...made!, sourceName: 'again' }]))
    expect(await ctx.db.selectFrom('attribution_touches').select('source_name').execute()).toEqual([
      { source_name: 'Black Friday' },
    ])
    await other.sell({ customer, placedAt })
    expect(await conversions(other)).toEqual([])
  })
})

describe('a conversion over time', () => {
  const totals = async (shop: ConnectedShop) => {
    const query = { startDate: '2026-11-15', endDate: '2026-11-15' }
    const { body } = await shop.call(getDashboard, { query })
    return [body.recoveredOrders, body.recoveredRevenue, body.totalOrders, body.totalRevenue]
  }
  const status = async (shop: ConnectedShop) =>
    (await conversions(shop)).map((each) => [each.status, each.revenue])

  test('it follows the status of its order, on the day the order was placed', async () => {
    const shop = await connectedStore(app)
    await touch(shop, {})
    const order = await shop.sell({
      customer,
      placedAt,
      items: [{ variantId: '2003', quantity: 2 }],
      paymentStatus: 'pending',
    })
    expect(await conversions(shop)).toMatchObject([{ status: 'pending', paid_at: null }])
    expect(await totals(shop)).toEqual([0, 0, 0, 0])
    await shop.resell(order, { paymentStatus: 'paid' })
    expect(await status(shop)).toEqual([['confirmed', '200.00']])
    expect(await totals(shop)).toEqual([1, 200, 1, 200])
    await shop.resell(order, { refundAmount: 50 })
    expect(await status(shop)).toEqual([['partially-refunded', '150.00']])
    expect(await totals(shop)).toEqual([1, 150, 1, 150])
    await shop.resell(order, { refundAmount: 150 })
    expect(await status(shop)).toEqual([['refunded', '0.00']])
    expect(await totals(shop)).toEqual([0, 0, 0, 0])
    await shop.resell(order, { status: 'cancelled' })
    expect(await status(shop)).toEqual([['refunded', '0.00']])
    expect(readChanges(shop)).toEqual([
      ['messaging-campaign', null, 'pending'],
      ['messaging-campaign', 'pending', 'confirmed'],
      ['messaging-campaign', 'confirmed', 'partially-refunded'],
      ['messaging-campaign', 'partially-refunded', 'refunded'],
    ])
  })

  test('a cancelled or voided order does not count, and counts again when it is reopened', async () => {
    const shop = await connectedStore(app)
    await touch(shop, {})
    const order = await shop.sell({ customer, placedAt })
    await shop.resell(order, { status: 'cancelled' })
    expect(await status(shop)).toEqual([['cancelled', '0.00']])
    expect(await totals(shop)).toEqual([0, 0, 0, 0])
    await shop.resell(order, { status: 'open' })
    expect(await status(shop)).toEqual([['confirmed', '100.00']])
    await shop.resell(order, { paymentStatus: 'voided' })
    expect(await status(shop)).toEqual([['cancelled', '0.00']])
    await shop.resell(order, { paymentStatus: 'pending' })
    expect(await status(shop)).toEqual([['pending', '100.00']])
  })

  test('it keeps its source even if a later touch or other hours would change it', async () => {
    const shop = await connectedStore(app)
    await touch(shop, {})
    const order = await shop.sell({ customer, placedAt })
    await touch(shop, { sourceType: 'automation', touchedAt: new Date('2026-11-15T11:59:59.000Z') })
    await (await shop.context()).db
      .updateTable('stores')
      .set({ attribution: JSON.stringify({ messagingCampaignHours: 1 }) })
      .execute()
    await shop.resell(order, { fulfillmentStatus: 'shipped' })
    expect(await readSources(shop)).toEqual(['messaging-campaign'])
    expect(readChanges(shop)).toEqual([['messaging-campaign', null, 'confirmed']])
  })

  test('when a message fails, its order goes to the previous touch or to none, permanently', async () => {
    const shop = await connectedStore(app)
    const [first, last] = await touch(
      shop,
      {},
      { sourceType: 'automation', touchedAt: new Date('2026-11-15T11:00:00.000Z') },
    )
    const order = await shop.sell({ customer, placedAt })
    const [before] = await conversions(shop)
    expect(before?.source_type).toBe('automation')
    const ctx = await shop.context()
    await ctx.transaction((tx) => voidTouches(tx, [last!.messageId!, newId(0)]))
    await app.drainJobs()
    expect(await conversions(shop)).toMatchObject([
      { id: before!.id, source_type: 'messaging-campaign', message_id: first!.messageId, revenue: '100.00' },
    ])
    await ctx.transaction((tx) => voidTouches(tx, [first!.messageId!]))
    await app.drainJobs()
    expect(await conversions(shop)).toEqual([])
    await ctx.transaction((tx) => recordTouches(tx, [buildTouch({ ...first! })]))
    await shop.resell(order, { fulfillmentStatus: 'shipped' })
    expect(await conversions(shop)).toEqual([])
    expect(readChanges(shop)).toEqual([
      ['automation', null, 'confirmed'],
      ['automation', 'confirmed', null],
      ['messaging-campaign', null, 'confirmed'],
      ['messaging-campaign', 'confirmed', null],
    ])
  })

  test('a message that fails while its order is attributed leaves no conversion behind', async () => {
    const shop = await connectedStore(app)
    const ctx = await shop.context()
    const orders = await Promise.all(Array.from({ length: 20 }, () => shop.place({ customer, placedAt })))
    await ctx.transaction((tx) => upsertOrders(tx, orders))
    const made = await touch(shop, ...Array.from({ length: 20 }, () => ({})))
    await Promise.all([
      ...orders.map((order) => ctx.transaction((tx) => attributeOrders(tx, [order.id]))),
      ...made.map((each) => ctx.transaction((tx) => voidTouches(tx, [each.messageId!]))),
    ])
    await app.drainJobs()
    expect(await conversions(shop)).toEqual([])
  })

  test('concurrent attribution of an order makes one conversion', async () => {
    const shop = await connectedStore(app)
    await touch(shop, {})
    const order = await shop.place({ customer, placedAt })
    await Promise.all(Array.from({ length: 5 }, () => shop.deliver(order)))
    await app.drainJobs()
    const ctx = await shop.context()
    for (let i = 0; i < 3; i += 1) await ctx.queue(orderAttribute, { orderIds: [order.id] })
    await app.drainJobs()
    expect(await conversions(shop)).toHaveLength(1)
    expect(readChanges(shop)).toEqual([['messaging-campaign', null, 'confirmed']])
  })
})
