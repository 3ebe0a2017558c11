import { describe, expect, test } from 'vitest'
import {
  computeAvailableQuantity,
  computeWindowEnd,
  findItemIneligibility,
  findOrderIneligibility,
  type ItemFacts,
  type OrderFacts,
} from '#operations/exchanges/shopper/eligibility'

const order = (facts: Partial<OrderFacts> = {}): OrderFacts => ({
  status: 'closed',
  paymentStatus: 'paid',
  placedAt: new Date('2026-10-25T15:00:00Z'),
  shippedAt: new Date('2026-10-27T15:00:00Z'),
  deliveredAt: new Date('2026-11-02T02:30:00Z'),
  hasOpenRequest: false,
  ...facts,
})
const rules = { windowDays: 30, returnWindowDays: null, windowFrom: 'delivered' as const }
const saoPaulo = 'America/Sao_Paulo'

describe('the window', () => {
  const end = (
    facts: Partial<OrderFacts> = {},
    more: Partial<Omit<typeof rules, 'windowFrom' | 'returnWindowDays'>> & {
      windowFrom?: 'delivered' | 'shipped' | 'placed'
      returnWindowDays?: number | null
    } = {},
    type: 'exchange' | 'return' = 'exchange',
    zone = saoPaulo,
  ) => computeWindowEnd(order(facts), { ...rules, ...more }, type, zone).toISOString()

  test('ends with its last day in the store’s time zone', () => {
    expect(end()).toBe('2026-12-02T02:59:59.999Z')
    expect(end({}, {}, 'exchange', 'UTC')).toBe('2026-12-02T23:59:59.999Z')
    expect(end({}, {}, 'exchange', 'Asia/Tokyo')).toBe('2026-12-02T14:59:59.999Z')
  })

  test('counts from the configured instant, or from the earlier one if that is unknown', () => {
    expect(end({}, { windowFrom: 'shipped' })).toBe('2026-11-27T02:59:59.999Z')
    expect(end({}, { windowFrom: 'placed' })).toBe('2026-11-25T02:59:59.999Z')
    expect(end({ deliveredAt: null })).toBe('2026-11-27T02:59:59.999Z')
    expect(end({ deliveredAt: null, shippedAt: null })).toBe('2026-11-25T02:59:59.999Z')
    expect(end({ shippedAt: null }, { windowFrom: 'shipped' })).toBe('2026-11-25T02:59:59.999Z')
    expect(end({ shippedAt: null })).toBe('2026-12-02T02:59:59.999Z')
  })

  test('may have a different length for returns', () => {
    expect(end({}, { returnWindowDays: 7 }, 'return')).toBe('2026-11-09T02:59:59.999Z')
    expect(end({}, { returnWindowDays: 7 }, 'exchange')).toBe('2026-12-02T02:59:59.999Z')
    expect(end({}, {}, 'return')).toBe('2026-12-02T02:59:59.999Z')
  })

  test('counts local days, not multiples of 24 hours, over a daylight saving change', () => {
    const berlin = 'Europe/Berlin'
    // Clocks go back on 25 October, forward on 29 March.
    expect(
      end({ deliveredAt: new Date('2026-10-20T10:00:00Z') }, { windowDays: 10 }, 'exchange', berlin),
    ).toBe('2026-10-30T22:59:59.999Z')
    expect(
      end({ deliveredAt: new Date('2026-10-20T10:00:00Z') }, { windowDays: 5 }, 'exchange', berlin),
    ).toBe('2026-10-25T22:59:59.999Z')
    expect(
      end({ deliveredAt: new Date('2026-03-20T23:30:00Z') }, { windowDays: 10 }, 'exchange', berlin),
    ).toBe('2026-03-31T21:59:59.999Z')
  })

  test('ends before a day that has no midnight or two', () => {
    // 4 November 2018 began at 1:00 in São Paulo.
    expect(end({ deliveredAt: new Date('2018-11-01T15:00:00Z') }, { windowDays: 2 })).toBe(
      '2018-11-04T02:59:59.999Z',
    )
    // 1 November 2026 has its first hour twice in Havana.
    expect(
      end({ deliveredAt: new Date('2026-10-29T15:00:00Z') }, { windowDays: 2 }, 'exchange', 'America/Havana'),
    ).toBe('2026-11-01T03:59:59.999Z')
    // The same for a delivery between midnight and one.
    expect(
      end({ deliveredAt: new Date('2026-10-30T04:55:00Z') }, { windowDays: 1 }, 'exchange', 'America/Havana'),
    ).toBe('2026-11-01T03:59:59.999Z')
    expect(
      end({ deliveredAt: new Date('2026-10-23T00:30:00Z') }, { windowDays: 1 }, 'return', 'Atlantic/Azores'),
    ).toBe('2026-10-24T23:59:59.999Z')
  })
})

test('a paid order that is not cancelled is eligible', () => {
  const open = { oneOpenRequestPerOrder: false }
  const single = { oneOpenRequestPerOrder: true }
  expect(findOrderIneligibility(order(), open)).toBeNull()
  expect(findOrderIneligibility(order({ paymentStatus: 'partially-refunded' }), open)).toBeNull()
  expect(findOrderIneligibility(order({ status: 'cancelled' }), open)).toBe('cancelled')
  expect(findOrderIneligibility(order({ paymentStatus: 'pending' }), open)).toBe('not-paid')
  expect(findOrderIneligibility(order({ paymentStatus: 'voided' }), open)).toBe('not-paid')
  expect(findOrderIneligibility(order({ paymentStatus: 'refunded' }), open)).toBe('refunded')
  expect(findOrderIneligibility(order({ hasOpenRequest: true }), open)).toBeNull()
  expect(findOrderIneligibility(order({ hasOpenRequest: true }), single)).toBe('open-request')
  expect(findOrderIneligibility(order(), single)).toBeNull()
})

describe('an item', () => {
  const item = (facts: Partial<ItemFacts> = {}): ItemFacts => ({
    productId: '1001',
    categoryIds: ['301', '302'],
    quantity: 3,
    refundedQuantity: 0,
    takenQuantity: 0,
    countedOnce: 0,
    unitPrice: '33.10',
    total: '99.30',
    ...facts,
  })
  const settings = { excludedProductIds: [], excludedCategoryIds: [], excludeDiscountedItems: false }

  test('has the units that are neither refunded nor requested', () => {
    expect(computeAvailableQuantity(item())).toBe(3)
    expect(computeAvailableQuantity(item({ refundedQuantity: 1, takenQuantity: 1 }))).toBe(1)
    expect(computeAvailableQuantity(item({ refundedQuantity: 2, takenQuantity: 2 }))).toBe(0)
    expect(computeAvailableQuantity(item({ refundedQuantity: 2, takenQuantity: 2, countedOnce: 2 }))).toBe(1)
    expect(findItemIneligibility(item({ refundedQuantity: 1, takenQuantity: 2 }), settings)).toBe(
      'no-units-left',
    )
  })

  test('is excluded with its product or one of its categories', () => {
    expect(findItemIneligibility(item(), settings)).toBeNull()
    expect(findItemIneligibility(item(), { ...settings, excludedProductIds: ['1001'] })).toBe('excluded')
    expect(findItemIneligibility(item(), { ...settings, excludedProductIds: ['1002'] })).toBeNull()
    expect(
      findItemIneligibility(item({ productId: null }), { ...settings, excludedProductIds: ['1001'] }),
    ).toBeNull()
    expect(findItemIneligibility(item(), { ...settings, excludedCategoryIds: ['302'] })).toBe('excluded')
    expect(findItemIneligibility(item(), { ...settings, excludedCategoryIds: ['303'] })).toBeNull()
  })

  test('is discounted when its line cost less than its units', () => {
    const strict = { ...settings, excludeDiscountedItems: true }
    expect(findItemIneligibility(item(), strict)).toBeNull()
    expect(findItemIneligibility(item({ total: '99.29' }), strict)).toBe('discounted')
    expect(findItemIneligibility(item({ total: '99.29' }), settings)).toBeNull()
  })
})
