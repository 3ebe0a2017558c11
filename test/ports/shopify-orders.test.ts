import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RestOrder, toOrder } from '#operations/store/ecommerce/shopify/order-map'
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

  test("refunds are reported in the shop's currency, whatever was paid with", async () => {
    const { shop, port, store } = opened
    const order = placeOrder(shop, { customerId: '5001', variantId: '2001', quantity: 2 })
    refundOrder(shop, order, 108.2, { amount: '20.00', currency: 'USD' })
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
    const second = await port.listOrders(store, { updatedSince: new Date(0), cursor: first.next! })
    const last = second.orders.at(-1)!
    expect(second.next).toBeNull()
    const again = await port.listOrders(store, {
      updatedSince: new Date(Date.parse(last.updatedAt) - 300_000),
    })
    expect([...second.orders, ...again.orders].map(({ id }) => id)).toContain(String(changed.id))
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
    expect([new Set(seen).size, seen.length, pages]).toEqual([230, 230, 4])
    const late = shop.checkouts.at(-1)!
    const recent = await port.listCarts(store, { updatedSince: new Date(Date.parse(late.updated_at) + 1) })
    expect(recent.carts).toEqual([])
  })

  test('an order found under another token is not that of the cart', async () => {
    const { standIn, shop, port, store } = await shopify()
    const bought = { customerId: '5001', variantId: '2001', quantity: 1 }
    const checkout = fillCart(shop, bought)
    const order = placeOrder(shop, { ...bought, checkout })
    const orderOfCart = async () => {
      const { carts } = await port.listCarts(store, { updatedSince: new Date(0) })
      return carts.find(({ id }) => id === String(checkout.id))!.orderId
    }
    expect(await orderOfCart()).toBe(String(order.id))
    order.checkoutToken = `other-${checkout.token}`
    expect(await orderOfCart()).toBeNull()
    await standIn.close()
  })

  const order: RestOrder = {
    id: 1,
    name: '#1001-A',
    test: false,
    currency: 'BRL',
    email: 'ana@example.com',
    phone: null,
    customer: { id: 5, first_name: 'Ana', last_name: 'Reis', phone: null },
    billing_address: null,
    shipping_address: { first_name: 'Ana', last_name: 'Reis', phone: '+5511999998888', city: 'São Paulo' },
    line_items: [
      {
        id: 11,
        product_id: 1001,
        variant_id: 2001,
        title: 'Caneca',
        sku: '',
        quantity: 3,
        price: '19.90',
        discount_allocations: [{ amount: '1.99' }, { amount: '0.01' }],
      },
      {
        id: 12,
        product_id: null,
        variant_id: null,
        title: 'Frete extra',
        sku: null,
        quantity: 1,
        price: '0.10',
      },
    ],
    total_line_items_price: '59.80',
    total_discounts: '2.00',
    total_shipping_price_set: { shop_money: { amount: '12.5' } },
    total_price: '76.08',
    taxes_included: false,
    discount_codes: [{ code: 'ANA10' }],
    financial_status: 'partially_refunded',
    fulfillment_status: 'fulfilled',
    fulfillments: [
      {
        status: 'cancelled',
        shipment_status: null,
        tracking_number: 'OLD',
        tracking_url: null,
        created_at: '2026-11-01T09:00:00-03:00',
        updated_at: '2026-11-01T09:30:00-03:00',
      },
      {
        status: 'success',
        shipment_status: 'delivered',
        tracking_number: 'BR1',
        tracking_url: 'https://track.example.com/BR1',
        created_at: '2026-11-02T09:00:00-03:00',
        updated_at: '2026-11-09T09:00:00-03:00',
      },
    ],
    refunds: [
      {
        refund_line_items: [{ line_item_id: 11, quantity: 1, subtotal: 19.23, total_tax: 1.77 }],
      },
    ],
    payment_gateway_names: ['shopify_payments'],
    order_status_url: 'https://loja.example.com/1/orders/abc',
    checkout_id: 77,
    landing_site: '//',
    note_attributes: [{ name: 'mk', value: 'from-the-cart' }],
    created_at: '2026-11-01T08:00:00-03:00',
    processed_at: null,
    cancelled_at: null,
    closed_at: '2026-11-10T08:00:00-03:00',
    updated_at: '2026-11-10T08:00:00-03:00',
  }
  const facts = {
    transactions: [
      { kind: 'AUTHORIZATION', status: 'SUCCESS', processedAt: '2026-11-01T11:00:01Z' },
      { kind: 'CAPTURE', status: 'FAILURE', processedAt: '2026-11-01T11:00:02Z' },
      { kind: 'CAPTURE', status: 'SUCCESS', processedAt: '2026-11-01T11:00:03Z' },
      { kind: 'REFUND', status: 'SUCCESS', processedAt: '2026-11-05T11:00:03Z' },
    ],
    fulfillments: [{ deliveredAt: null }, { deliveredAt: '2026-11-08T12:00:00Z' }],
    paymentCollectionDetails: { additionalPaymentCollectionUrl: 'https://loja.example.com/pay' },
    totalRefundedSet: { shopMoney: { amount: '21.0' } },
  }

  test('an order is converted to our terms, to the cent', () => {
    expect(toOrder(order, facts)).toMatchObject({
      id: '1',
      number: '1001-A',
      status: 'closed',
      paymentStatus: 'partially-refunded',
      fulfillmentStatus: 'delivered',
      subtotal: '59.80',
      discount: '2.00',
      shipping: '12.50',
      total: '76.08',
      refundedTotal: '21.00',
      couponCodes: ['ANA10'],
      customer: { id: '5', name: 'Ana Reis', email: 'ana@example.com', phone: '+5511999998888' },
      items: [
        {
          id: '11',
          sku: null,
          quantity: 3,
          unitPrice: '19.90',
          total: '57.70',
          refundedQuantity: 1,
          refundedTotal: '21.00',
        },
        {
          id: '12',
          productId: null,
          variantId: null,
          total: '0.10',
          refundedQuantity: 0,
          refundedTotal: '0.00',
        },
      ],
      paymentMethod: 'shopify_payments',
      paymentUrl: null,
      cartId: '77',
      trackingCode: 'BR1',
      clickToken: 'from-the-cart',
      placedAt: '2026-11-01T11:00:00.000Z',
      paidAt: '2026-11-01T11:00:03.000Z',
      shippedAt: '2026-11-02T12:00:00.000Z',
      deliveredAt: '2026-11-08T12:00:00.000Z',
      updatedAt: '2026-11-10T11:00:00.000Z',
    })
  })

  test.each([
    ['one line of two', '36.08', '0', { total: '36.08', refundedTotal: '0.00' }],
    ['one, for half of it', '36.08', '20', { total: '56.08', refundedTotal: '20.00' }],
    ['one, for all of it', '36.08', '40', { total: '76.08', refundedTotal: '40.00' }],
    ['nothing, for an amount', '76.08', '40', { total: '76.08', refundedTotal: '40.00' }],
    ['nothing, and put on one', '96.08', '0', { total: '96.08', refundedTotal: '0.00' }],
  ])('an order edit that removed %s', (_what, current_total_price, amount, expected) => {
    const back = { ...facts, totalRefundedSet: { shopMoney: { amount } } }
    expect(toOrder({ ...order, current_total_price }, back)).toMatchObject(expected)
    const cancelled = { ...order, current_total_price: '0.00', cancelled_at: '2026-11-03T00:00:00Z' }
    expect(toOrder(cancelled, back)).toMatchObject({ total: '76.08' })
  })

  test('an incomplete order does not block others', () => {
    const known = ['id', 'created_at', 'updated_at']
    const parts = [
      ...Object.keys(order).map((key) => [key]),
      ...Object.keys(order.line_items[0]!).map((key) => ['line_items', '0', key]),
      ...Object.keys(order.refunds[0]!).map((key) => ['refunds', '0', key]),
      ...Object.keys(order.refunds[0]!.refund_line_items[0]!).map((key) => [
        'refunds',
        '0',
        'refund_line_items',
        '0',
        key,
      ]),
    ].filter((path) => !known.includes(path.at(-1)!))
    expect(parts.length).toBeGreaterThan(30)
    for (const path of parts) {
      for (const value of [null, undefined]) {
        const less = structuredClone(order) as unknown as Record<string, unknown>
        const last = path.at(-1)!
        const at = path.slice(0, -1).reduce((all, key) => all[key] as Record<string, unknown>, less)
        if (value === null) at[last] = null
        else delete at[last]
        const read = () => JSON.stringify(toOrder(less as unknown as RestOrder, facts))
        expect(read, path.join('.')).not.toThrow()
        expect(read(), path.join('.')).not.toMatch(/undefined|NaN/)
      }
    }
  })

  test.each([
    ['JPY', '1000', '300', { total: '1000.00', refundedTotal: '300.00' }],
    ['KWD', '12.345', '1.234', { total: '12.35', refundedTotal: '1.23' }],
  ])('in %s, to the hundredth', (currency, total_price, amount, expected) => {
    const back = { ...facts, totalRefundedSet: { shopMoney: { amount } } }
    expect(toOrder({ ...order, currency, total_price }, back)).toMatchObject({ currency, ...expected })
  })

  test('a line of many units at a price with three decimals has its exact total', () => {
    const line = { ...order.line_items[0]!, quantity: 1000, price: '0.125', discount_allocations: [] }
    const lineOff = { ...line, quantity: 3, price: '0.333', discount_allocations: [{ amount: '0.001' }] }
    const one = { ...line, quantity: 1, price: '19.996' }
    const lines = { currency: 'KWD', line_items: [line, lineOff, one] }
    // No line looks discounted if it is not.
    expect(toOrder({ ...order, ...lines }, facts).items).toMatchObject([
      { unitPrice: '0.12', total: '125.00' },
      { unitPrice: '0.33', total: '1.00' },
      { unitPrice: '20.00', total: '20.00' },
    ])
  })

  test.each([
    [
      { financial_status: 'authorized' },
      { paymentStatus: 'pending', paidAt: null, paymentUrl: 'https://loja.example.com/pay' },
    ],
    [{ financial_status: 'voided' }, { paymentStatus: 'voided', paidAt: null, paymentUrl: null }],
    [{ financial_status: 'refunded' }, { paymentStatus: 'refunded' }],
    [
      { cancelled_at: '2026-11-03T00:00:00Z' },
      { status: 'cancelled', cancelledAt: '2026-11-03T00:00:00.000Z' },
    ],
    [{ fulfillment_status: 'partial' }, { fulfillmentStatus: 'partial', deliveredAt: null }],
    [{ fulfillment_status: null }, { fulfillmentStatus: 'unfulfilled' }],
    [{ fulfillment_status: 'restocked' }, { fulfillmentStatus: 'unfulfilled' }],
    [{ taxes_included: true }, { items: [{ refundedTotal: '19.23' }, {}] }],
    [{ note_attributes: [] }, { clickToken: null }],
    [{ customer: null, shipping_address: null }, { customer: { id: null, name: null, phone: null } }],
  ])('%j', (change, expected) => {
    expect(toOrder({ ...order, ...change } as RestOrder, facts)).toMatchObject(expected)
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
