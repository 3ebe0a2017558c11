import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#db/database'
import type { Cart } from '#operations/store/ecommerce/port'
import { sandboxEcommerce } from '#operations/store/ecommerce/sandbox'
import { orderCart, putSandboxCart } from '#operations/store/ecommerce/sandbox-carts'
import { putCategories, putCustomers, putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { changeOrder, createOrder } from '#operations/store/ecommerce/sandbox-orders'
import { findObjects, type Shop } from '#operations/store/ecommerce/sandbox-rows'
import { buildOrderDeliveries } from '#operations/store/ecommerce/sandbox-webhooks'
import type { MovableClock } from '#runtime/clock'
import { createStore } from '#scripts/admin/create-store'
import { freshDatabase } from '#test/support/app'
import { frozenClock } from '#test/support/test-clock'
import { aShop, ecommerceContract } from './ecommerce.contract.ts'

let shops = 0

async function openShop(database: Database): Promise<Shop & { clock: MovableClock }> {
  shops += 1
  const clock = frozenClock()
  const { id } = await createStore(database, clock.now(), {
    slug: `sandbox-${shops}`,
    name: 'Sandbox',
    owner: 'owner@example.com',
    country: 'BR',
    currency: 'BRL',
    timezone: 'America/Sao_Paulo',
  })
  const shop = { db: database.root, clock, storeId: id }
  await putCategories(shop, aShop.categories)
  await putProducts(shop, aShop.products)
  await putCustomers(shop, aShop.customers)
  return shop
}

ecommerceContract('sandbox', async () => {
  const { database } = await freshDatabase()
  const shop = await openShop(database)
  return {
    port: sandboxEcommerce(shop),
    store: { id: shop.storeId, credentials: {} },
    order: ({ customerId, variantId, quantity, ...rest }) =>
      createOrder(shop, { customer: { id: customerId }, items: [{ variantId, quantity }], ...rest }),
    refund: async (orderId, refundAmount) => (await changeOrder(shop, orderId, { refundAmount }))!,
    cancel: async (orderId) => (await changeOrder(shop, orderId, { status: 'cancelled' }))!,
    async cart({ customerId, variantId, quantity, cartId }) {
      shop.clock.advance(1000) // one who changes a cart comes later
      const { cart } = await putSandboxCart(shop, {
        ...(cartId ? { id: cartId } : {}),
        customer: { id: customerId },
        items: [{ variantId, quantity }],
      })
      return cart.id
    },
    async orderCart(cartId) {
      const [cart] = await findObjects<Cart>(shop, 'cart', [cartId])
      const items = cart!.items.map(({ variantId, quantity }) => ({ variantId: variantId!, quantity }))
      const order = await createOrder(shop, { customer: { id: cart!.customer.id! }, items, cartId })
      await orderCart(shop, cartId, order.id)
      return order
    },
    async delivery(order, url) {
      const delivery = (await buildOrderDeliveries(shop, order)).find((each) => each.url === url)!
      return { headers: new Headers(delivery.headers), body: new TextEncoder().encode(delivery.body) }
    },
    async setDown(isDown) {
      if (!isDown) return void (await database.root.deleteFrom('sandbox_modes').execute())
      const mode = { store_id: shop.storeId, port: 'ecommerce', mode: 'down' }
      await database.root.insertInto('sandbox_modes').values(mode).execute()
    },
    close: () => database.close(),
  }
})

describe('sandbox shop', () => {
  let database: Database
  let shop: Awaited<ReturnType<typeof openShop>>
  beforeAll(async () => {
    database = (await freshDatabase()).database
    shop = await openShop(database)
  })
  afterAll(() => database.close())

  test('an order finds its customer by email or phone, or creates one; numbers continue', async () => {
    const items = [{ variantId: '2001', quantity: 1 }]
    const known = await createOrder(shop, { customer: { name: 'Ana M.', email: 'ANA@example.com' }, items })
    expect(known.customer).toEqual({
      id: '5001',
      name: 'Ana M.',
      email: 'ANA@example.com',
      phone: '+5511988887777',
    })
    const called = await createOrder(shop, { customer: { name: 'Ana', phone: '11 98888-7777' }, items })
    expect(called.customer.id).toBe('5001')
    const stranger = await createOrder(shop, { customer: { name: 'Novo', email: 'novo@example.com' }, items })
    expect(stranger.customer.id).toBe('5004')
    expect([known.id, called.id, stranger.id]).toEqual(['9001', '9002', '9003'])
    const many = await Promise.all(
      Array.from({ length: 5 }, () =>
        createOrder(shop, { customer: { name: 'X', email: 'x@example.com' }, items }),
      ),
    )
    expect(new Set(many.map((order) => order.id)).size).toBe(5)
    expect(new Set(many.map((order) => order.customer.id)).size).toBe(1)
  })

  test('ordered products must exist, and refunds end at the total', async () => {
    const order = await createOrder(shop, {
      customer: { id: '5002' },
      items: [
        { variantId: '2003', quantity: 2 },
        { variantId: '2001', quantity: 1 },
      ],
      shipping: 20,
      couponCode: 'ANA10',
      clickToken: 'tok',
    })
    expect(order).toMatchObject({
      subtotal: '299.90',
      total: '319.90',
      couponCodes: ['ANA10'],
      clickToken: 'tok',
    })
    await expect(
      createOrder(shop, { customer: { id: '5002' }, items: [{ variantId: '9', quantity: 1 }] }),
    ).rejects.toMatchObject({ code: 'unknown-variant' })
    const one = await changeOrder(shop, order.id, { refundItems: [{ variantId: '2003', quantity: 1 }] })
    expect(one).toMatchObject({
      paymentStatus: 'partially-refunded',
      refundedTotal: '120.00',
      items: [{ refundedQuantity: 1, refundedTotal: '120.00' }, { refundedTotal: '0.00' }],
    })
    await expect(changeOrder(shop, order.id, { refundAmount: 200 })).rejects.toMatchObject({
      code: 'refund-too-large',
    })
    const whole = await changeOrder(shop, order.id, { refundAmount: 199.9 })
    expect(whole).toMatchObject({ paymentStatus: 'refunded', refundedTotal: '319.90' })
    expect(await changeOrder(shop, 'none', { status: 'closed' })).toBeNull()
  })

  test('states carry their times, and every change is a newer version even under a stopped clock', async () => {
    shop.clock.frozenAt = Date.parse('2026-11-20T12:00:00.000Z')
    const order = await createOrder(shop, {
      customer: { id: '5003' },
      items: [{ variantId: '2004', quantity: 1 }],
      paymentStatus: 'pending',
      placedAt: '2026-11-19T12:00:00.000Z',
    })
    expect(order).toMatchObject({
      placedAt: '2026-11-19T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
    })
    expect(order.paymentUrl).toMatch(/^https:/)
    const paid = await changeOrder(shop, order.id, { paymentStatus: 'paid', fulfillmentStatus: 'delivered' })
    const at = '2026-11-20T12:00:00.000Z'
    expect(paid).toMatchObject({
      paidAt: at,
      shippedAt: at,
      deliveredAt: at,
      trackingCode: `SB${order.id}BR`,
    })
    const cancelled = await changeOrder(shop, order.id, { status: 'cancelled' })
    const open = await changeOrder(shop, order.id, { status: 'open' })
    expect([paid, cancelled, open].map((each) => each!.updatedAt)).toEqual([
      '2026-11-20T12:00:00.001Z',
      '2026-11-20T12:00:00.002Z',
      '2026-11-20T12:00:00.003Z',
    ])
    expect([cancelled!.cancelledAt, open!.cancelledAt]).toEqual([at, null])
  })

  test('a store does not see the shop of another', async () => {
    const other = await openShop(database)
    const port = sandboxEcommerce(shop)
    const order = await createOrder(shop, {
      customer: { id: '5001' },
      items: [{ variantId: '2001', quantity: 1 }],
    })
    const theirs = { id: other.storeId, credentials: {} }
    expect(await port.getOrder(theirs, { id: order.id })).toBeNull()
    expect((await port.listOrders(theirs, { updatedSince: new Date(0) })).orders).toEqual([])
  })

  test('an unknown token is refused, a product that crashes the platform is not answered', async () => {
    const port = sandboxEcommerce(shop)
    await expect(port.check({ id: shop.storeId, credentials: { token: 'invalid' } })).rejects.toMatchObject({
      code: 'invalid-credentials',
    })
    await expect(
      port.getProducts({ id: shop.storeId, credentials: {} }, { ids: ['sandbox-down'] }),
    ).rejects.toMatchObject({ name: 'Unavailable' })
  })
})
