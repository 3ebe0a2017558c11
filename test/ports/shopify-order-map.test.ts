import { describe, expect, test } from 'vitest'
import type { OrderContentFragment } from '#operations/store/ecommerce/shopify/documents/documents'
import { type OrderFacts, toOrder } from '#operations/store/ecommerce/shopify/order-map'

describe('an order of Shopify', () => {
  const money = (amount: string) => ({ shopMoney: { amount } })
  const gid = (type: string, id: number) => `gid://shopify/${type}/${id}`
  const line = {
    id: gid('LineItem', 11),
    product: { id: gid('Product', 1001) },
    variant: { id: gid('ProductVariant', 2001) },
    title: 'Caneca',
    sku: '',
    image: null,
    quantity: 3,
    currentQuantity: 2,
    originalUnitPriceSet: money('19.90'),
    discountAllocations: ['1.99', '0.01'].map((amount) => ({ allocatedAmountSet: money(amount) })),
  }
  const facts: OrderFacts = {
    lines: [
      line,
      {
        ...line,
        id: gid('LineItem', 12),
        product: null,
        variant: null,
        title: 'Frete extra',
        sku: null,
        quantity: 1,
        currentQuantity: 1,
        originalUnitPriceSet: money('0.10'),
        discountAllocations: [],
      },
    ],
    refundLines: [
      { quantity: 1, lineItem: { id: line.id }, subtotalSet: money('19.23'), totalTaxSet: money('1.77') },
    ],
    cartId: '77',
  }
  const order: OrderContentFragment = {
    id: gid('Order', 1),
    name: '#1001-A',
    test: false,
    currencyCode: 'BRL',
    email: 'ana@example.com',
    phone: null,
    cartToken: null,
    checkoutToken: null,
    customer: {
      id: gid('Customer', 5),
      firstName: 'Ana',
      lastName: 'Reis',
      defaultEmailAddress: null,
      defaultPhoneNumber: null,
    },
    billingAddress: null,
    shippingAddress: {
      firstName: 'Ana',
      lastName: 'Reis',
      name: 'Ana Reis',
      company: null,
      phone: '+5511999998888',
      address1: 'Rua A, 1',
      address2: null,
      city: 'São Paulo',
      zip: '01310-100',
      province: 'São Paulo',
      provinceCode: 'SP',
      country: 'Brazil',
      countryCodeV2: 'BR',
      latitude: null,
      longitude: null,
    },
    lineItems: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } },
    totalDiscountsSet: money('2.00'),
    totalShippingPriceSet: money('12.5'),
    totalPriceSet: money('76.08'),
    currentTotalPriceSet: money('55.08'),
    totalRefundedSet: money('21.0'),
    taxesIncluded: false,
    discountCodes: ['ANA10'],
    displayFinancialStatus: 'PARTIALLY_REFUNDED',
    displayFulfillmentStatus: 'FULFILLED',
    fulfillments: [
      {
        status: 'CANCELLED',
        displayStatus: 'CANCELED',
        trackingInfo: [{ number: 'OLD', url: null }],
        createdAt: '2026-11-01T12:00:00Z',
        updatedAt: '2026-11-01T12:30:00Z',
        deliveredAt: null,
      },
      {
        status: 'SUCCESS',
        displayStatus: 'DELIVERED',
        trackingInfo: [{ number: 'BR1', url: 'https://track.example.com/BR1' }],
        createdAt: '2026-11-02T12:00:00Z',
        updatedAt: '2026-11-09T12:00:00Z',
        deliveredAt: '2026-11-08T12:00:00Z',
      },
    ],
    transactions: [
      { kind: 'AUTHORIZATION', status: 'SUCCESS', processedAt: '2026-11-01T11:00:01Z' },
      { kind: 'CAPTURE', status: 'FAILURE', processedAt: '2026-11-01T11:00:02Z' },
      { kind: 'CAPTURE', status: 'SUCCESS', processedAt: '2026-11-01T11:00:03Z' },
      { kind: 'REFUND', status: 'SUCCESS', processedAt: '2026-11-05T11:00:03Z' },
    ],
    paymentGatewayNames: ['shopify_payments'],
    paymentCollectionDetails: { additionalPaymentCollectionUrl: 'https://loja.example.com/pay' },
    statusPageUrl: 'https://loja.example.com/1/orders/abc',
    customerJourneySummary: {
      firstVisit: { landingPage: 'https://loja.example.com/?mk=a' },
      lastVisit: null,
    },
    customAttributes: [{ key: 'mk', value: 'from-the-cart' }],
    createdAt: '2026-11-01T11:00:00Z',
    processedAt: '2026-11-01T11:00:00Z',
    cancelledAt: null,
    closedAt: '2026-11-10T11:00:00Z',
    updatedAt: '2026-11-10T11:00:00Z',
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
      shippingAddress: { first_name: 'Ana', city: 'São Paulo', zip: '01310-100', country_code: 'BR' },
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
  ])('an order edit that removed %s', (_what, current, amount, expected) => {
    const edited = { ...order, totalRefundedSet: money(amount), currentTotalPriceSet: money(current) }
    expect(toOrder(edited, facts)).toMatchObject(expected)
    const cancelled = {
      ...edited,
      currentTotalPriceSet: money('0.00'),
      cancelledAt: '2026-11-03T00:00:00Z',
    }
    expect(toOrder(cancelled, facts)).toMatchObject({ total: '76.08' })
  })

  test('an incomplete order does not block others', () => {
    const whole = { order, facts: { ...facts, cartId: null } }
    const known = ['order', 'facts', 'id', 'createdAt', 'updatedAt', 'currencyCode', 'lines', 'refundLines']
    const parts: string[][] = []
    const collect = (value: unknown, path: string[]): void => {
      if (value === null || typeof value !== 'object') return
      for (const [key, each] of Object.entries(value)) {
        if (!known.includes(key) && !/^\d+$/.test(key)) parts.push([...path, key])
        collect(each, [...path, key])
      }
    }
    collect(whole, [])
    expect(parts.length).toBeGreaterThan(60)
    for (const path of parts) {
      for (const value of [null, undefined]) {
        const less = structuredClone(whole)
        const last = path.at(-1)!
        const at = path
          .slice(0, -1)
          .reduce((all, key) => all[key] as Record<string, unknown>, less as Record<string, unknown>)
        if (value === null) at[last] = null
        else delete at[last]
        const read = () => JSON.stringify(toOrder(less.order, less.facts))
        expect(read, path.join('.')).not.toThrow()
        expect(read(), path.join('.')).not.toMatch(/undefined|NaN/)
      }
    }
  })

  test.each([
    ['JPY', '1000', '300', { total: '1000.00', refundedTotal: '300.00' }],
    ['KWD', '12.345', '1.234', { total: '12.35', refundedTotal: '1.23' }],
  ] as const)('in %s, to the hundredth', (currencyCode, total, amount, expected) => {
    const other = {
      ...order,
      currencyCode,
      totalPriceSet: money(total),
      currentTotalPriceSet: money(total),
      totalRefundedSet: money(amount),
    }
    expect(toOrder(other, facts)).toMatchObject({ currency: currencyCode, ...expected })
  })

  test('a line of many units at a price with three decimals has its exact total', () => {
    const many = {
      ...line,
      quantity: 1000,
      originalUnitPriceSet: money('0.125'),
      discountAllocations: [] as typeof line.discountAllocations,
    }
    const off = [{ allocatedAmountSet: money('0.001') }]
    const manyOff = { ...many, quantity: 3, originalUnitPriceSet: money('0.333'), discountAllocations: off }
    const one = { ...many, quantity: 1, originalUnitPriceSet: money('19.996') }
    const lines = [many, manyOff, one]
    // No line looks discounted if it is not.
    expect(toOrder({ ...order, currencyCode: 'KWD' }, { ...facts, lines }).items).toMatchObject([
      { unitPrice: '0.12', total: '125.00' },
      { unitPrice: '0.33', total: '1.00' },
      { unitPrice: '20.00', total: '20.00' },
    ])
  })

  test.each<[Partial<OrderContentFragment>, object]>([
    [
      { displayFinancialStatus: 'AUTHORIZED' },
      { paymentStatus: 'pending', paidAt: null, paymentUrl: 'https://loja.example.com/pay' },
    ],
    [{ displayFinancialStatus: 'VOIDED' }, { paymentStatus: 'voided', paidAt: null, paymentUrl: null }],
    [{ displayFinancialStatus: 'REFUNDED' }, { paymentStatus: 'refunded' }],
    [
      { cancelledAt: '2026-11-03T00:00:00Z' },
      { status: 'cancelled', cancelledAt: '2026-11-03T00:00:00.000Z' },
    ],
    [
      { displayFulfillmentStatus: 'PARTIALLY_FULFILLED' },
      { fulfillmentStatus: 'partial', deliveredAt: null },
    ],
    [{ displayFulfillmentStatus: 'ON_HOLD' }, { fulfillmentStatus: 'partial' }],
    [{ displayFulfillmentStatus: 'ON_HOLD', fulfillments: [] }, { fulfillmentStatus: 'unfulfilled' }],
    [{ displayFulfillmentStatus: 'UNFULFILLED' }, { fulfillmentStatus: 'unfulfilled' }],
    [{ displayFulfillmentStatus: 'RESTOCKED' }, { fulfillmentStatus: 'unfulfilled' }],
    [{ taxesIncluded: true }, { items: [{ refundedTotal: '19.23' }, {}] }],
    [{ customAttributes: [] }, { clickToken: 'a' }],
    [{ customAttributes: [], customerJourneySummary: null }, { clickToken: null }],
    [{ customer: null, shippingAddress: null }, { customer: { id: null, name: null, phone: null } }],
  ])('%j', (change, expected) => {
    expect(toOrder({ ...order, ...change }, facts)).toMatchObject(expected)
  })
})
