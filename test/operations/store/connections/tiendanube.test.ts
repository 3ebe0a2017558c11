/** A Tiendanube shop from its owner's link to the erasure of its shoppers. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import deletePromotion from '#operations/promotions/promotions/api/delete-promotion'
import { findEcommerce } from '#operations/store/connections/connections'
import { buildInstallLink } from '#operations/store/connections/install'
import type { EcommercePort } from '#operations/store/ecommerce/port'
import { buildCartUrl } from '#operations/store/ecommerce/urls/cart-url'
import { tiendanube } from '#test/ports/tiendanube'
import { app as tiendanubeApp } from '#test/ports/tiendanube-stand-in'
import { cancelOrder, fillCart, placeOrder } from '#test/ports/tiendanube-stand-in/orders'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp({ publicUrl: 'https://api.example.com' })
const domain = 'loja.lojavirtualnuvem.com.br'
let platform: Awaited<ReturnType<typeof tiendanube>>
let shop: Shop

beforeAll(async () => {
  platform = await tiendanube({
    clock: app.clock,
    app: tiendanubeApp,
    db: app.database.root,
    cartUrl: (storeId) => buildCartUrl(app.services.settings, 'tiendanube', storeId),
  })
  ;(app.services.adapters.ecommerce as Record<string, EcommercePort>).tiendanube = platform.port
  shop = await store(app)
})
afterAll(() => platform.standIn.close())

const db = async () => (await shop.context()).db
const bought = { customerId: '5001', variantId: '2001', quantity: 1 }

/** The redirect from Tiendanube after the owner followed the link. */
async function comeBack(of: Shop, changes: Record<string, string> = {}): Promise<Response> {
  const link = new URL(buildInstallLink(await of.context(), 'tiendanube', domain))
  const query = new URLSearchParams({
    code: platform.standIn.agree(),
    state: link.searchParams.get('state')!,
    ...changes,
  })
  return app.fetch(new Request(`https://api.example.com/ecommerce/return/tiendanube?${query}`))
}

async function deliver(path: string, content: object, secret?: string): Promise<Response> {
  const { headers, body } = platform.standIn.sign(content, secret)
  const to = `https://api.example.com/hooks/ecommerce/tiendanube${path}`
  return app.fetch(new Request(to, { method: 'POST', headers, body: new TextDecoder().decode(body) }))
}

test('the link of a store connects the shop in it, and no other', async () => {
  const other = await store(app)
  const link = new URL(buildInstallLink(await other.context(), 'tiendanube', domain))
  const [storeId, at, signature] = link.searchParams.get('state')!.split('.')
  const forged = await comeBack(shop, { state: `${storeId}.${at}.${signature}.www.another.example.com` })
  expect(forged.status).toBe(403)
  expect((await comeBack(shop, { code: '' })).status).toBe(400)
  const order = placeOrder(platform.shop, bought)
  const cart = fillCart(platform.shop, bought)
  const answer = await comeBack(shop)
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Connected')])
  await app.drainJobs()
  const connected = await findEcommerce(await shop.context())
  expect(connected).toMatchObject({ provider: 'tiendanube', store: { credentials: { storeId: '789456' } } })
  const orders = await (await db()).selectFrom('orders').select(['id', 'total', 'customer_name']).execute()
  expect(orders).toEqual([{ id: String(order.id), total: '59.90', customer_name: 'Ana' }])
  await app.advance(300_000)
  await app.drainJobs()
  expect(await (await db()).selectFrom('carts').select('id').execute()).toEqual([{ id: String(cart.id) }])
})

test('a delivery is taken with the app’s signature alone, and reads the order again', async () => {
  const [order] = platform.shop.orders
  cancelOrder(platform.shop, order!)
  const content = { store_id: platform.shop.id, event: 'order/cancelled', id: order!.id }
  expect((await deliver(`/${shop.id}`, content, 'another secret')).status).toBe(401)
  expect(await (await deliver(`/${shop.id}`, content)).json()).toEqual({ received: 1 })
  await app.drainJobs()
  const [row] = await (await db()).selectFrom('orders').select('status').execute()
  expect(row).toEqual({ status: 'cancelled' })
})

test('an order names the checkout that it was, before the carts are read again', async () => {
  const [cart] = platform.shop.checkouts
  const order = placeOrder(platform.shop, { ...bought, checkoutId: String(cart!.id) })
  await deliver(`/${shop.id}`, { store_id: platform.shop.id, event: 'order/created', id: order.id })
  await app.drainJobs()
  const id = String(order.id)
  const row = await (await db())
    .selectFrom('orders')
    .select('cart_id')
    .where('id', '=', id)
    .executeTakeFirst()
  expect(row).toEqual({ cart_id: String(cart!.id) })
  fillCart(platform.shop, bought)
  await app.advance(3_600_000)
  await app.drainJobs()
  const carts = await (await db()).selectFrom('carts').select('order_id').orderBy('id').execute()
  expect(carts).toEqual([{ order_id: id }, { order_id: null }])
  // Tiendanube reports no carts: none was missed.
  const [connection] = await (await db()).selectFrom('connections').select('settings').execute()
  expect(connection!.settings).not.toHaveProperty('cartsMissedAt')
})

test('a checkout is read once Tiendanube lists it, hours after the shopper left', async () => {
  const left = fillCart(platform.shop, bought)
  left.listedAt = new Date(app.clock.ms() + 5.5 * 3_600_000).toISOString()
  const isRead = async () =>
    (await (await db()).selectFrom('carts').select('id').where('id', '=', String(left.id)).execute()).length
  for (let hour = 0; hour < 7; hour += 1) {
    await app.advance(3_600_000)
    await app.drainJobs()
    expect(await isRead()).toBe(hour < 5 ? 0 : 1)
  }
})

test('a promotion is applied to the carts that Tiendanube asks about, at an address with a key', async () => {
  const promotion = {
    name: 'Leve 3, pague 2',
    buyQuantity: 3,
    payQuantity: 2,
    discountPercentage: 100,
    scope: 'all',
  }
  const made = await shop.call(createPromotion, { body: promotion })
  expect(made.status).toBe(201)
  expect(platform.shop.promotions).toMatchObject([{ name: 'Leve 3, pague 2', active: true }])
  const id = platform.shop.promotions[0]!.id
  const url = platform.shop.callbackUrl!
  const ask = (quantity: number, to = url, promotions: object[] = []) => {
    const product = { id: 1, price: '59.90', product_id: 1001, variant_id: 2001, quantity, categories: [] }
    const cart = { cart_id: '1', store_id: '789456', currency: 'BRL', execution_tier: 'cross_items' }
    const body = JSON.stringify({ ...cart, products: [product], promotions, coupons: [] })
    return app.fetch(
      new Request(to, { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
    )
  }
  const three = await ask(3)
  expect([three.status, await three.json()]).toMatchObject([
    200,
    { commands: [{ specs: { promotion_id: id, discount_specs: { type: 'fixed', amount: '59.90' } } }] },
  ])
  expect((await ask(2)).status).toBe(204)
  expect((await ask(3, `${url.slice(0, -2)}xx`)).status).toBe(404)
  const { id: promotionId } = made.body as { id: string }
  const remove = () => shop.call(deletePromotion, { params: { id: promotionId } })
  // A deletion that fails at Tiendanube leaves the promotion, once.
  platform.standIn.faults.push({ fits: /^DELETE promotions/, is: { status: 503 } })
  expect((await remove()).status).toBe(503)
  await app.advance(5 * 60_000)
  await app.drainJobs()
  expect(platform.shop.promotions).toHaveLength(1)
  const again = platform.shop.promotions[0]!.id
  expect((await remove()).status).toBeLessThan(300)
  expect(platform.shop.promotions).toEqual([])
  expect(await (await ask(3, url, [{ id: again }])).json()).toEqual({
    commands: [{ command: 'remove_discount', specs: { scope: 'cart', promotion_ids: [again] } }],
  })
})

test('a redaction erases the customer, and the removal of the app ends the connection', async () => {
  const names = async () =>
    JSON.stringify(
      await (await db()).selectFrom('orders').select(['customer_name', 'customer_email']).execute(),
    )
  expect(await names()).toContain('ana@example.com')
  const customer = { id: 5001, email: 'ana@example.com', phone: '+5511988887777' }
  const request = { store_id: platform.shop.id, customer, orders_to_redact: [] }
  expect((await deliver('', request, 'another secret')).status).toBe(401)
  expect(await (await deliver('', { ...request, store_id: 1 })).json()).toEqual({ received: 0 })
  expect(await (await deliver('', request)).json()).toEqual({ received: 1 })
  await app.drainJobs()
  expect(await names()).not.toMatch(/ana/i)
  const removal = { store_id: platform.shop.id, event: 'app/uninstalled', id: 1234 }
  // Repeated by Tiendanube after the shop was connected again.
  expect(await (await deliver(`/${shop.id}`, removal)).json()).toEqual({ received: 0 })
  await app.drainJobs()
  expect(await findEcommerce(await shop.context())).not.toBeNull()
  platform.standIn.accessToken = 'none, since the app was removed'
  expect(await (await deliver(`/${shop.id}`, removal)).json()).toEqual({ received: 1 })
  await app.drainJobs()
  expect(await findEcommerce(await shop.context())).toBeNull()
})
