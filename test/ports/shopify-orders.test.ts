import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shopify } from './shopify.ts'
import { fillCart, placeOrder, refundOrder } from './shopify-stand-in/orders.ts'

let opened: Awaited<ReturnType<typeof shopify>>

describe('orders and carts', () => {
  beforeAll(async () => {
    opened = await shopify()
  })
  afterAll(() => opened.standIn.close())

  test('test orders are skipped; an alert leaves its token in the first address', async () => {
    const { shop, port, store } = opened
    const line = { customerId: '5001', variantId: '2001', quantity: 1 }
    const test = placeOrder(shop, { ...line, isTest: true })
    const order = placeOrder(shop, { ...line, landingSite: '/products/caneca?utm=x&mk=a-token' })
    const { orders } = await port.listOrders(store, { updatedSince: new Date(0) })
    expect(orders.map(({ id, clickToken }) => [id, clickToken])).toEqual([[String(order.id), 'a-token']])
    expect(await port.getOrder(store, { id: String(test.id) })).toBeNull()
    expect(await port.getOrder(store, { number: test.name })).toBeNull()
    expect(await port.getOrder(store, { number: '#1002' })).toMatchObject({ id: String(order.id) })
    expect(await port.getOrder(store, { number: '1002" OR name:"#1001' })).toBeNull()
  })

  test("refunds are reported in the shop's currency", async () => {
    const { shop, port, store } = opened
    const order = placeOrder(shop, { customerId: '5001', variantId: '2001', quantity: 2 })
    refundOrder(shop, order, 108.2)
    expect(await port.getOrder(store, { id: String(order.id) })).toMatchObject({
      currency: 'BRL',
      total: '119.80',
      refundedTotal: '108.20',
    })
  })

  test('changes during a walk are found by the next walk', async () => {
    const { shop, port, store } = opened
    const line = { customerId: '5002', variantId: '2003', quantity: 1 }
    const placed = Array.from({ length: 60 }, () => placeOrder(shop, line))
    const first = await port.listOrders(store, { updatedSince: new Date(0) })
    const changed = placed[0]!
    changed.updated_at = shop.now()
    const later: typeof first.orders = []
    for (let cursor = first.next; cursor !== null; ) {
      const page = await port.listOrders(store, { updatedSince: new Date(0), cursor })
      later.push(...page.orders)
      cursor = page.next
    }
    const last = later.at(-1)!
    const again = await port.listOrders(store, {
      updatedSince: new Date(Date.parse(last.updatedAt) - 300_000),
    })
    expect([...later, ...again.orders].map(({ id }) => id)).toContain(String(changed.id))
  })

  test('closed carts come with the open ones, page by page', async () => {
    const { shop, port, store } = opened
    for (let i = 0; i < 230; i += 1) {
      fillCart(shop, { customerId: '5001', variantId: '2001', quantity: 1 }).closed = i % 2 === 0
    }
    const seen: string[] = []
    let pages = 0
    let cursor: string | null = null
    do {
      const query: { updatedSince: Date; cursor?: string } = { updatedSince: new Date(0) }
      if (cursor) query.cursor = cursor
      const page = await port.listCarts(store, query)
      seen.push(...page.carts.map(({ id }) => id))
      pages += 1
      cursor = page.next
    } while (cursor !== null)
    expect([new Set(seen).size, seen.length, pages]).toEqual([230, 230, 18])
    const late = shop.checkouts.at(-1)!
    const recent = await port.listCarts(store, { updatedSince: new Date(Date.parse(late.updated_at) + 1) })
    expect(recent.carts).toEqual([])
  })

  test('an order found under another token is not that of the cart', async () => {
    const { standIn, shop, port, store } = await shopify()
    const bought = { customerId: '5001', variantId: '2001', quantity: 1 }
    const checkout = fillCart(shop, bought)
    const order = placeOrder(shop, { ...bought, checkout })
    const readCart = async () => {
      const { carts } = await port.listCarts(store, { updatedSince: new Date(0) })
      return carts.find(({ id }) => id === String(checkout.id))!
    }
    expect(await readCart()).toMatchObject({ orderId: String(order.id), items: [{ quantity: 1 }] })
    order.cartToken = `other-${checkout.token}`
    // It was bought all the same: nothing is left to buy.
    expect(await readCart()).toMatchObject({ orderId: null, items: [] })
    checkout.abandoned_checkout_url = 'https://loja.example.com/690933842/checkouts/0123abcd/recover?key=1'
    order.checkoutToken = '0123abcd'
    expect(await readCart()).toMatchObject({ orderId: String(order.id) })
    await standIn.close()
  })

  test('lines and refunds beyond the first page, with their images', async () => {
    const { standIn, shop, port, store } = await shopify()
    const line = { customerId: '5001', variantId: '2001', quantity: 3 }
    const image = 'https://cdn.example.com/caneca.jpg'
    shop.variant('2001').variant.image = image
    const order = placeOrder(shop, line)
    const checkout = fillCart(shop, line)
    for (const { lines } of [order, checkout]) {
      for (let i = 1; i < 130; i += 1) lines.push({ ...lines[0]!, id: 400_000 + i })
    }
    order.refunds.push({ lines: [{ line_item_id: 400_129, quantity: 2, subtotal: '39.80', total_tax: '0' }] })
    const found = (await port.getOrder(store, { id: String(order.id) }))!
    expect([found.items.length, found.subtotal, found.items[0]!.imageUrl]).toEqual([130, '23361.00', image])
    expect(found.items[129]).toMatchObject({ refundedQuantity: 2, refundedTotal: '39.80' })
    const [cart] = (await port.listCarts(store, { updatedSince: new Date(0) })).carts
    expect([cart!.items.length, cart!.items[129]!.imageUrl]).toEqual([130, image])
    await standIn.close()
  })

  test('orders, carts and customers come without the fields that Shopify withholds', async () => {
    const { standIn, shop, port, store } = await shopify()
    const line = { customerId: '5001', variantId: '2001', quantity: 1 }
    fillCart(shop, line)
    placeOrder(shop, line)
    const fields = ['Order.email', 'Order.customer', 'AbandonedCheckout.customer', 'Customer.firstName']
    for (const field of fields) standIn.deniedFields.add(field)
    const nobody = { id: null, name: null, email: null, phone: null }
    const { orders } = await port.listOrders(store, { updatedSince: new Date(0) })
    const { carts } = await port.listCarts(store, { updatedSince: new Date(0) })
    expect([orders[0]!.customer, carts[0]!.customer]).toEqual([nobody, nobody])
    expect((await port.listCustomers(store, { limit: 1 })).customers).toMatchObject([{ name: null }])
    standIn.deniedFields.add('orders')
    await expect(port.listOrders(store, { updatedSince: new Date(0) })).rejects.toMatchObject({
      code: 'missing-permission',
    })
    await standIn.close()
  })

  test('cursors of before GraphQL are read, or refused as old ones', async () => {
    const { port, store } = opened
    const write = (place: unknown[]) => Buffer.from(JSON.stringify(place)).toString('base64url')
    const updatedSince = new Date(0)
    const old = { updatedSince, cursor: write(['open', 'eyJsYXN0X2lkIjoxfQ']) }
    await expect(port.listCarts(store, old)).rejects.toMatchObject({ name: 'Refused', code: 'bad-cursor' })
    const { customers } = await port.listCustomers(store, { cursor: '5001', limit: 10 })
    expect(customers.map(({ id }) => id)).not.toContain('5001')
    expect(customers.length).toBeGreaterThan(0)
    const unknown = { updatedSince, cursor: write([updatedSince.toISOString(), 'bm90IG9uZQ==', 40]) }
    await expect(port.listOrders(store, unknown)).rejects.toMatchObject({ code: 'bad-cursor' })
  })
})

describe('webhooks', () => {
  beforeAll(async () => {
    opened = await shopify()
  })
  afterAll(() => opened.standIn.close())

  const url = 'https://api.example.com/hooks/ecommerce/shopify/x'
  const deliver = async (topic: string, object: unknown) => {
    const { standIn, port, store } = opened
    for (const ours of ['order.updated', 'cart.updated', 'product.updated', 'stock.updated'] as const) {
      await port.registerWebhook(store, { topic: ours, url, secret: 'of no use' })
    }
    const [delivery] = standIn.deliveries(topic, object, url)
    return {
      ...delivery!,
      events: port.parseWebhook(delivery!.headers, delivery!.body, port.webhookSecret(store)),
    }
  }
  const updated_at = '2026-11-20T09:00:00-03:00'
  const updatedAt = '2026-11-20T12:00:00.000Z'

  test.each([
    ['orders/create', { id: 1, updated_at }, [['order.updated', { id: '1', updatedAt }]]],
    ['checkouts/update', { id: 2, updated_at }, [['cart.updated', { id: '2', updatedAt }]]],
    [
      'products/update',
      { id: 3, updated_at },
      [
        ['product.updated', { id: '3', updatedAt }],
        ['stock.updated', { id: '3', updatedAt }],
      ],
    ],
    ['products/delete', { id: 4 }, [['product.updated', { id: '4' }]]],
    ['orders/delete', { id: 7 }, [['order.deleted', { id: '7' }]]],
    ['app/uninstalled', { id: 8, updated_at }, [['app.uninstalled', { id: '8' }]]],
    [
      'variants/in_stock',
      { id: 5, product_id: 6, updated_at },
      [['stock.updated', { id: '5', productId: '6', updatedAt }]],
    ],
  ])('%s', async (topic, object, expected) => {
    const { events } = await deliver(topic, object)
    expect(events.map(({ kind, data }) => [kind, data])).toMatchObject(expected)
    expect(new Set(events.map(({ key }) => key)).size).toBe(events.length)
    expect(events.every(({ storeRef }) => storeRef === 'loja.myshopify.com')).toBe(true)
  })

  test('a repeated webhook has the same key, another one of the same object a different key', async () => {
    const { events, headers, body } = await deliver('orders/updated', { id: 1, updated_at })
    const { port, store } = opened
    const secret = port.webhookSecret(store)
    expect(port.parseWebhook(headers, body, secret)).toEqual(events)
    const other = await deliver('orders/updated', { id: 1, updated_at })
    expect(other.events[0]!.key).not.toBe(events[0]!.key)
  })

  test('an unregistered topic brings nothing; a body without an id is refused', async () => {
    const { headers, body } = await deliver('orders/updated', { id: 1, updated_at })
    const { port, store, standIn } = opened
    const secret = port.webhookSecret(store)
    const foreign = new Headers(headers)
    foreign.set('x-shopify-topic', 'themes/publish')
    expect(port.parseWebhook(foreign, body, secret)).toEqual([])
    const [nameless] = standIn.deliveries('orders/updated', { note: 'nothing' }, url)
    expect(() => port.parseWebhook(nameless!.headers, nameless!.body, secret)).toThrow(
      expect.objectContaining({ code: 'bad-body' }),
    )
  })
})
