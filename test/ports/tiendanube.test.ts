import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readNextPage } from '#operations/store/ecommerce/tiendanube/http/client'
import { apiVersion } from '#operations/store/ecommerce/tiendanube/http/options'
import { pickText } from '#operations/store/ecommerce/tiendanube/http/values'
import { toOrder } from '#operations/store/ecommerce/tiendanube/order-map'
import { Refused, Throttled } from '#runtime/ports/errors'
import { tiendanube } from './tiendanube.ts'
import { lists } from './tiendanube-stand-in/lists.ts'
import { fillCart, placeOrder, refundOrder } from './tiendanube-stand-in/orders.ts'

let opened: Awaited<ReturnType<typeof tiendanube>>
beforeEach(async () => {
  opened = await tiendanube({ timeoutMs: 2000 })
})
afterEach(() => opened.standIn.close())

const failed = (call: Promise<unknown>) => call.then(() => null).catch((error: unknown) => error)
const bought = { customerId: '5001', variantId: '2001', quantity: 2 }
const all = { sort: 'name', page: 1, limit: 20 } as const

describe('the stand-in refuses what Tiendanube refuses', () => {
  const ask = (path: string, headers: Record<string, string>, init: RequestInit = {}) =>
    fetch(`${opened.standIn.endpoint}/api/${apiVersion}/${opened.shop.id}/${path}`, { ...init, headers })
  const fine = () => ({
    authentication: `bearer ${opened.standIn.accessToken}`,
    'user-agent': 'App (me@example.com)',
  })

  test.each([
    ['no user agent with a contact', () => ({ ...fine(), 'user-agent': 'node' }), 400],
    [
      'the header Authorization',
      () => ({ ...fine(), authentication: '', authorization: fine().authentication }),
      401,
    ],
    [
      'an upper-case Bearer',
      () => ({ ...fine(), authentication: fine().authentication.replace('b', 'B') }),
      401,
    ],
    ['nothing else', fine, 200],
  ])('%s', async (_, headers, status) => {
    expect((await ask('products', headers())).status).toBe(status)
  })

  test.each([
    ['products?per_page=201', 422],
    ['products?colour=red', 422],
    ['products?page=9', 404],
    ['customers?per_page=200', 200],
  ])('GET %s', async (path, status) => {
    expect((await ask(path, fine())).status).toBe(status)
  })

  test('writes without their type, with broken JSON, with unknown fields, with fields of former scripts', async () => {
    const post = async (path: string, body: string, type = 'application/json') =>
      (await ask(path, { ...fine(), 'content-type': type }, { method: 'POST', body })).status
    expect(await post('webhooks', '{}', 'text/plain')).toBe(415)
    expect(await post('webhooks', '{')).toBe(400)
    expect(await post('webhooks', '{"event":"cart/updated","url":"https://a.example/x"}')).toBe(422)
    expect(await post('webhooks', '{"event":"order/paid","url":"http://a.example/x"}')).toBe(422)
    expect(await post('coupons', '{"code":"A","type":"shipping","colour":"red"}')).toBe(422)
    expect(await post('scripts', '{"src":"https://a.example/x.js","event":"onload"}')).toBe(422)
  })
})

describe('the rate limit', () => {
  test('a full bucket delays calls, and no call is lost', async () => {
    const small = await tiendanube({ bucket: [3, 20] })
    const calls = Array.from({ length: 8 }, () => small.port.getOrder(small.store, { id: '1' }))
    expect(await Promise.all(calls)).toEqual(calls.map(() => null))
    expect(small.standIn.throttled).toBeGreaterThan(0)
    await small.standIn.close()
  })

  test('a pause longer than allowed is Throttled', async () => {
    const small = await tiendanube({ bucket: [1, 0.001], maxPauseMs: 50 })
    await small.port.check(small.store)
    expect(await failed(small.port.check(small.store))).toBeInstanceOf(Throttled)
    await small.standIn.close()
  })
})

describe('errors', () => {
  test('a rejected token and an unpaid shop are lost access; a missing permission is not', async () => {
    const { standIn, port, store } = opened
    standIn.scopes = ['read_products']
    expect(await failed(port.listOrders(store, { updatedSince: new Date(0) }))).toMatchObject({
      name: 'Refused',
      code: 'missing-permission',
      message: expect.stringContaining('orders'),
    })
    standIn.isUnpaid = true
    expect(await failed(port.listCategories(store))).toMatchObject({
      name: 'AccessLost',
      code: 'shop-unpaid',
    })
    standIn.isUnpaid = false
    standIn.accessToken = 'another token'
    expect(await failed(port.listCategories(store))).toMatchObject({
      name: 'AccessLost',
      code: 'bad-credentials',
    })
    expect(await failed(port.check(store))).toMatchObject({ name: 'Refused', code: 'invalid-credentials' })
    expect(await failed(port.check({ id: 'store', credentials: { storeId: '1' } }))).toMatchObject({
      code: 'invalid-credentials',
    })
  })

  test('a read is repeated, a write only if it certainly had no effect', async () => {
    const { standIn, shop, port, store } = opened
    standIn.faults.push({ is: 'drop' }, { is: { status: 502 } })
    await port.check(store)
    const url = 'https://api.example.com/hook'
    standIn.faults.push({ fits: /^POST webhooks/, is: { status: 500 } })
    const webhook = { topic: 'stock.updated', url, secret: 's' } as const
    expect(await failed(port.registerWebhook(store, webhook))).toMatchObject({ accepted: 'unknown' })
    expect(shop.webhooks).toEqual([])
  })

  test('a coupon whose answer was lost is found', async () => {
    const { standIn, shop, port, store } = await tiendanube({ timeoutMs: 300 })
    standIn.faults.push({ fits: /^POST coupons/, is: 'late' })
    const none = { value: null, minimumAmount: null, usageLimit: null, endsAt: null }
    const { id } = await port.ensureCoupon(store, { code: 'FRETE', type: 'free-shipping', ...none })
    expect(shop.coupons.map((each) => String(each.id))).toEqual([id])
    await standIn.close()
  })
})

describe('products', () => {
  test('texts are in the main language, prices with their promotion, pictures in order over https', async () => {
    const { shop, port, store } = opened
    Object.assign(shop.products[0]!, {
      images: [
        { id: 2, src: '//cdn.example.com/b.jpg', position: 2 },
        { id: 1, src: 'http://cdn.example.com/a.jpg', position: 1 },
      ],
    })
    shop.products[0]!.variants[1]!.image_id = 2
    shop.products[1]!.variants[0]!.price = null
    const [mug, apron] = await port.getProducts(store, { ids: ['1001', '1002'] })
    expect(mug).toMatchObject({
      handle: 'product-1001',
      url: 'https://www.loja.example.com/produtos/product-1001',
      images: ['https://cdn.example.com/a.jpg', 'https://cdn.example.com/b.jpg'],
      currency: 'BRL',
      variants: [
        { options: [{ name: 'Cor', value: 'Azul' }], price: 59.9, compareAtPrice: 79.9, imageUrl: null },
        { imageUrl: 'https://cdn.example.com/b.jpg' },
      ],
    })
    expect(apron!.variants[0]).toMatchObject({ price: 0, isAvailable: false })
    expect(pickText([], 'pt')).toBe('')
    expect(pickText({ es: 'Taza', pt: '' }, 'pt')).toBe('Taza')
  })

  test('many ids are read in batches of 30, and many products are compared page by page', async () => {
    const { standIn, shop, port, store } = opened
    for (let i = 0; i < 210; i += 1) {
      shop.addProduct({
        id: String(3000 + i),
        name: `Prato ${i}`,
        variants: [{ id: `${4000 + i}`, price: i }],
      })
    }
    const ids = shop.products.slice(0, 65).map(({ id }) => String(id))
    standIn.requests.length = 0
    expect((await port.getProducts(store, { ids })).map(({ id }) => id)).toEqual(ids)
    expect(standIn.requests.filter((what) => what === 'GET products')).toHaveLength(3)
    const inStock = await port.searchProducts(store, { ...all, inStock: true, page: 2 })
    expect([inStock.total, inStock.products.length]).toEqual([212, 20])
    const newest = await port.searchProducts(store, { ...all, sort: '-updatedAt', limit: 2 })
    expect(newest.products.map(({ id }) => id)).toEqual(['3209', '3208'])
  })

  test('pages that lead back to one before are no endless loop', async () => {
    const { standIn, port, store } = opened
    const headers = { link: '<https://api.tiendanube.com/x?page=2>; rel="next"' }
    const page = { status: 200, headers, body: '[]' }
    standIn.faults.push(...Array.from({ length: 5 }, () => ({ fits: /^GET categories/, is: page })))
    expect(await failed(port.listCategories(store))).toMatchObject({ name: 'Unavailable' })
    expect(standIn.faults).toHaveLength(3)
  })

  test('a page behind the last one is empty', async () => {
    const { port, store } = opened
    expect(await port.searchProducts(store, { ...all, page: 7 })).toMatchObject({ products: [] })
    expect(await port.searchProducts(store, { ...all, search: 'nada' })).toEqual({ products: [], total: 0 })
    expect(readNextPage('<https://api.tiendanube.com/x?page=1>; rel="prev"')).toBeNull()
  })
})

describe('orders', () => {
  const walk = async () => {
    const { port, store } = opened
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await port.listOrders(store, { updatedSince: new Date(0), ...(cursor ? { cursor } : {}) })
      seen.push(...page.orders.map(({ id }) => id))
      cursor = page.next ?? undefined
    } while (cursor)
    return seen
  }

  test('changes of one second that fill several pages are all seen, each once', async () => {
    const { shop } = opened
    for (let i = 0; i < 250; i += 1) placeOrder(shop, bought)
    const at = shop.now()
    for (const order of shop.orders) order.updated_at = at
    const seen = await walk()
    expect(new Set(seen).size).toBe(250)
    expect(seen).toHaveLength(250)
  })

  test('lists without links are read to their end, by their total', async () => {
    const { standIn, shop } = opened
    standIn.hasLinks = false
    for (let i = 0; i < 250; i += 1) placeOrder(shop, bought)
    expect(await walk()).toEqual(shop.orders.map(({ id }) => String(id)))
  })

  test('a list longer than Tiendanube answers is read in parts', async () => {
    const { shop } = opened
    const { atMost } = lists.orders!
    lists.orders!.atMost = 150
    for (let i = 0; i < 320; i += 1) placeOrder(shop, bought)
    expect(await walk()).toEqual(shop.orders.map(({ id }) => String(id)))
    lists.orders!.atMost = atMost!
  })

  test('a quiet shop costs one call', async () => {
    const { standIn, shop, port, store } = opened
    placeOrder(shop, bought)
    standIn.requests.length = 0
    const { next } = await port.listOrders(store, { updatedSince: new Date(shop.clock.ms() - 3_600_000) })
    expect([next, standIn.requests]).toEqual([null, ['GET orders']])
  })

  test('a refund is told from the total, whether it lowers it or not', async () => {
    const { shop, port, store } = opened
    for (const lowers of [false, true]) {
      const order = placeOrder(shop, bought)
      refundOrder(shop, order, 19.8, lowers)
      refundOrder(shop, order, 0.2, lowers)
      expect(await port.getOrder(store, { id: String(order.id) })).toMatchObject({
        paymentStatus: 'partially-refunded',
        total: '119.80',
        refundedTotal: '20.00',
      })
      refundOrder(shop, order, 99.8, lowers)
      expect(await port.getOrder(store, { id: String(order.id) })).toMatchObject({
        paymentStatus: 'refunded',
        total: '119.80',
        refundedTotal: '119.80',
      })
      order.history = []
      order.total = '119.80'
      expect(await port.getOrder(store, { id: String(order.id) })).toMatchObject({ refundedTotal: '119.80' })
    }
  })

  test('shipments give cost, tracking and times; the words of before are read too', () => {
    const order = placeOrder(opened.shop, bought)
    Object.assign(order, { total: '129.80', coupon: [{ code: 'DEZ' }], extra: { mk: 'tok' } })
    expect(toOrder(order)).toMatchObject({ shipping: '10.00', couponCodes: ['DEZ'], clickToken: 'tok' })
    const parcel = {
      status: 'DELIVERED',
      shipping: { consumer_cost: { value: 9.5 } },
      tracking_info: { url: 'https://track.example/1', code: 'BR1' },
      fulfilled_at: '2026-11-21T10:00:00+00:00',
      status_history: [{ to_status: 'DELIVERED', happened_at: '2026-11-23T10:00:00+00:00' }],
    }
    const delivered = { ...order, shipping_status: 'delivered', fulfillments: ['01BX', parcel] }
    expect(toOrder(delivered)).toMatchObject({
      fulfillmentStatus: 'delivered',
      shipping: '9.50',
      trackingCode: 'BR1',
      trackingUrl: 'https://track.example/1',
      shippedAt: '2026-11-21T10:00:00.000Z',
      deliveredAt: '2026-11-23T10:00:00.000Z',
    })
    const former = { ...order, shipping_status: 'fulfilled', shipping_cost_customer: '12.00', extra: [] }
    expect(toOrder(former)).toMatchObject({
      fulfillmentStatus: 'shipped',
      shipping: '12.00',
      clickToken: null,
    })
    expect(toOrder({ ...order, payment_status: 'partially_paid' })).toMatchObject({
      paymentStatus: 'pending',
    })
    expect(toOrder({ ...order, payment_status: 'abandoned' })).toMatchObject({ paymentStatus: 'voided' })
  })
})

test('a checkout that became an order names it, and an order names its checkout', async () => {
  const { shop, port, store } = opened
  const { id } = fillCart(shop, bought)
  placeOrder(shop, { ...bought, checkoutId: String(id) })
  const { carts } = await port.listCarts(store, { updatedSince: new Date(0) })
  expect(carts).toMatchObject([{ id: String(id), orderId: String(id) }])
  expect(await port.getOrder(store, { id: String(id) })).toMatchObject({ cartId: String(id) })
})

test.each([
  ['null', null, null],
  ['zero, as text', '-0001-11-30T00:00:00+0000', null],
  ['zero, as an object', { date: '-0001-11-30 00:00:00.000000' }, null],
  ['a time, as text', '2026-11-20T15:00:00+0000', 'order'],
  ['a time, as an object', { date: '2026-11-20 15:00:00.000000' }, 'order'],
] as const)('a checkout is an order only if it was completed: %s', async (_, completed, order) => {
  const { shop, port, store } = opened
  const checkout = fillCart(shop, bought)
  checkout.completed_at = completed
  const { carts } = await port.listCarts(store, { updatedSince: new Date(0) })
  expect(carts).toMatchObject([{ orderId: order && String(checkout.id) }])
})

test('a zero or zoneless time of one object stops no list', async () => {
  const { shop, port, store } = opened
  const zero = '-0001-11-30T00:00:00+0000'
  const order = placeOrder(shop, bought)
  Object.assign(order, { created_at: zero, paid_at: '2026-11-20 15:00:00' })
  shop.products[0]!.created_at = zero
  expect((await port.listOrders(store, { updatedSince: new Date(0) })).orders).toMatchObject([
    { placedAt: new Date(order.updated_at).toISOString(), paidAt: '2026-11-20T15:00:00.000Z' },
  ])
  const [product] = await port.getProducts(store, { ids: [String(shop.products[0]!.id)] })
  expect(product).toMatchObject({ createdAt: '1970-01-01T00:00:00.000Z' })
  const { customers } = await port.listCustomers(store, { limit: 10 })
  expect(customers.find(({ id }) => id === '5001')).toMatchObject({ ordersCount: 1 })
})

test('only coupons that ours can express have terms, and their day ends in the shop’s time zone', async () => {
  const { shop, port, store } = opened
  const coupon = {
    code: 'DEZ',
    type: 'amount',
    value: '10.00',
    minimumAmount: '50.00',
    usageLimit: 1,
  } as const
  const made = await port.ensureCoupon(store, { ...coupon, endsAt: '2031-01-01T02:59:00.000Z' })
  expect(shop.coupons[0]).toMatchObject({ end_date: '2030-12-31', min_price: 50, type: 'absolute' })
  const { code: _code, ...terms } = coupon
  expect(made.terms).toEqual({ ...terms, endsAt: '2031-01-01T03:00:00.000Z' })
  for (const change of [{ valid: false }, { products: [{ id: 1 }] }, { first_consumer_purchase: true }]) {
    Object.assign(shop.coupons[0]!, { valid: true, products: [], first_consumer_purchase: false }, change)
    expect(await port.ensureCoupon(store, { ...coupon, endsAt: null })).toMatchObject({ terms: null })
  }
})

test('a script is associated with the loader’s URL, which a new one replaces; without a script it is refused', async () => {
  const { shop, port, store } = opened
  await port.ensureScript(store, { src: 'https://api.example.com/one.js' })
  await port.ensureScript(store, { src: 'https://api.example.com/two.js' })
  expect(shop.scripts).toMatchObject([{ params: { src: 'https://api.example.com/two.js' } }])
  expect(await failed(port.ensureScript(store, { src: 'http://api.example.com/x.js' }))).toBeInstanceOf(
    Refused,
  )
  const without = await tiendanube({ scriptId: null })
  expect(
    await failed(without.port.ensureScript(without.store, { src: 'https://a.example/x.js' })),
  ).toMatchObject({
    code: 'no-script',
    message: expect.stringContaining('ECOMMERCE_URL'),
  })
  await without.standIn.close()
})
