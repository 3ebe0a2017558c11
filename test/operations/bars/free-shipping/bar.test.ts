import { describe, expect, test } from 'vitest'
import getSettings from '#operations/bars/free-shipping/api/get-settings'
import saveSettings from '#operations/bars/free-shipping/api/save-settings'
import suggest from '#operations/bars/free-shipping/api/suggest-threshold'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import { refused } from '#test/support/refused'
import { deleteRows } from '#test/support/rows'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 10_000 })
await app.setClock('2026-11-20T12:00:00.000Z')

const save = (shop: Shop, body: object) => shop.call(saveSettings, { body })
const read = async (shop: Shop) => (await shop.call(getSettings)).body

describe('the free-shipping banner', () => {
  test('the banner has defaults until it is saved, and its currency', async () => {
    const shop = await store(app)
    expect(await read(shop)).toEqual({
      isEnabled: false,
      threshold: null,
      initialText: 'Free shipping over {{threshold}}',
      progressText: 'Only {{remaining}} to go for free shipping',
      successText: 'You have free shipping!',
      afterDiscounts: true,
      excludedProductIds: [],
      backgroundColor: '#111827',
      textColor: '#ffffff',
      progressColor: '#22c55e',
      trackColor: '#374151',
      showProgress: true,
      isClosable: false,
      isSticky: true,
      position: 'top',
      pages: ['all'],
      devices: 'all',
      currency: 'BRL',
      updatedAt: null,
    })
  })

  test.each<[string, object]>([
    ['threshold', { isEnabled: true }],
    ['progressText', { progressText: 'Only {{missing}} to go' }],
    ['progressText', { progressText: 'Only {{remaining to go' }],
  ])('%s out of its bounds is refused', async (field, change) => {
    const shop = await store(app)
    expect(await save(shop, change)).toMatchObject(refused(400, field))
    expect((await read(shop)).updatedAt).toBeNull()
  })

  test('new excluded products must exist; saved ones may be deleted later', async () => {
    const shop = await connectedStore(app)
    expect((await save(shop, { excludedProductIds: ['1001'] })).status).toBe(200)
    await deleteRows(shop, 'product_snapshots')
    await deleteRows(shop, 'sandbox_objects')
    expect((await save(shop, await read(shop))).status).toBe(200)
    expect((await save(shop, { excludedProductIds: ['sandbox-down'] })).status).toBe(503)
  })

  test('the banner is on the storefront while it is on', async () => {
    const shop = await store(app, { locale: 'pt-BR' })
    expect((await visit(shop, '/widgets')).body).not.toHaveProperty('freeShippingBar')
    await save(shop, { isEnabled: true, threshold: 199, excludedProductIds: [] })
    const { freeShippingBar } = (await visit(shop, '/widgets')).body
    expect(freeShippingBar).toMatchObject({ threshold: 199, currency: 'BRL', locale: 'pt-BR' })
    expect(freeShippingBar).not.toHaveProperty('updatedAt')
    await save(shop, { isEnabled: false })
    expect((await visit(shop, '/widgets')).body).not.toHaveProperty('freeShippingBar')
  })
})

const amounts = [40, 55, 60, 80, 95, 110, 120, 150, 200, 900]

let orders = 0
async function insertOrder(
  shop: Shop,
  amount: number,
  change: { placedAt?: string; status?: string; paymentStatus?: string; currency?: string } = {},
): Promise<void> {
  orders += 1
  const placed = new Date(change.placedAt ?? '2026-11-10T12:00:00.000Z')
  await app.database.root
    .insertInto('orders')
    .values({
      store_id: shop.id,
      id: `o${orders}`,
      number: String(orders),
      status: change.status ?? 'closed',
      payment_status: change.paymentStatus ?? 'paid',
      fulfillment_status: 'delivered',
      currency: change.currency ?? 'BRL',
      // A discount of 10 and shipping on top: neither counts.
      subtotal: String(amount + 10),
      discount: '10',
      shipping: '25',
      total: String(amount + 25),
      refunded_total: '0',
      coupon_codes: [],
      placed_at: placed,
      paid_at: placed,
      updated_at: placed,
    })
    .execute()
}

async function shopWithOrders(): Promise<Shop> {
  const shop = await store(app)
  for (const amount of [...amounts, ...amounts]) await insertOrder(shop, amount)
  return shop
}
const suggestion = async (shop: Shop, query = {}) => (await shop.call(suggest, { query })).body

describe('the threshold suggestion', () => {
  test('the suggestion is the median plus 20 percent, rounded up', async () => {
    const shop = await shopWithOrders()
    expect(await suggestion(shop)).toEqual({
      suggestion: 130,
      reason: null,
      currency: 'BRL',
      days: 90,
      orders: 20,
      medianOrder: 102.5,
      averageOrder: 181,
      shareReached: 30,
      shareWithin: 20,
      currentThreshold: null,
    })
  })

  test('today, cancelled, refunded and unpaid orders and other currencies do not count', async () => {
    const shop = await shopWithOrders()
    await insertOrder(shop, 5000, { placedAt: '2026-11-20T11:00:00.000Z' })
    await insertOrder(shop, 5000, { status: 'cancelled' })
    await insertOrder(shop, 5000, { paymentStatus: 'refunded' })
    await insertOrder(shop, 5000, { paymentStatus: 'pending' })
    await insertOrder(shop, 5000, { currency: 'USD' })
    await insertOrder(shop, 5000, { placedAt: '2026-08-22T02:59:59.000Z' })
    expect(await suggestion(shop)).toMatchObject({ orders: 20, suggestion: 130 })
    // The first of the 90 days starts at 03:00 UTC in São Paulo.
    await insertOrder(shop, 5000, { placedAt: '2026-08-22T03:00:00.000Z' })
    expect((await suggestion(shop)).orders).toBe(21)
    expect((await suggestion(shop, { days: 7 })).orders).toBe(0)
  })

  test('the suggestion needs twenty orders; the median does not', async () => {
    const shop = await store(app)
    expect(await suggestion(shop)).toMatchObject({ suggestion: null, orders: 0, medianOrder: null })
    for (const amount of [...amounts, ...amounts.slice(1)]) await insertOrder(shop, amount)
    expect(await suggestion(shop)).toMatchObject({
      suggestion: null,
      reason: 'not-enough-orders',
      orders: 19,
      medianOrder: 110,
      shareReached: null,
      shareWithin: null,
    })
  })

  test.each([
    [10, 12],
    [60, 75],
    [400, 480],
    [420, 550],
    [1700, 2100],
    [9000, 11_000],
  ])('a median of %i suggests %i', async (median, wanted) => {
    const shop = await store(app)
    for (let i = 0; i < 20; i += 1) await insertOrder(shop, median)
    expect((await suggestion(shop)).suggestion).toBe(wanted)
  })

  test.each([0, 2_000_000])(
    'a median of %i suggests nothing, since the settings could not store it',
    async (median) => {
      const shop = await store(app)
      for (let i = 0; i < 20; i += 1) await insertOrder(shop, median)
      expect(await suggestion(shop)).toMatchObject({
        suggestion: null,
        reason: 'no-usable-threshold',
        medianOrder: median,
        shareReached: null,
        shareWithin: null,
      })
    },
  )

  test('the answer has the current threshold, and 7 to 365 days are accepted', async () => {
    const shop: ConnectedShop = await connectedStore(app)
    await save(shop, { threshold: 150 })
    expect((await suggestion(shop)).currentThreshold).toBe(150)
    expect((await shop.call(suggest, { query: { days: 6 } })).status).toBe(400)
    expect((await shop.call(suggest, { query: { days: 366 } })).status).toBe(400)
  })
})
