import { describe, expect, test } from 'vitest'
import {
  findQuietEnd,
  getEndOfDay,
  getScanInstant,
  listBirthdays,
  listDaysToScan,
} from '#operations/automations/deciding/clock-times'
import {
  calculateCashback,
  generateCouponCode,
  getCouponEnd,
} from '#operations/automations/deciding/coupon-codes'
import { isCartEligible, isOrderEligible } from '#operations/automations/deciding/eligibility'
import { extendHold, type HoldState, holdForQuietHours } from '#operations/automations/deciding/holds'
import { findNextStep, walk } from '#operations/automations/deciding/walk'
import { meetsConditions, parsePaymentMethod } from '#operations/automations/entering/conditions'
import { defaultConditions } from '#operations/automations/kinds'
import type { AutomationMessage, Flow } from '#operations/automations/types'

const night = { isEnabled: true, start: '21:00', end: '08:00' }
const saoPaulo = 'America/Sao_Paulo'
const auckland = 'Pacific/Auckland'
const newYork = 'America/New_York'

describe('quiet hours (rule 6)', () => {
  test.each([
    ['21:30 waits for 8:00 the next day', '2026-11-21T00:30:00.000Z', '2026-11-21T11:00:00.000Z'],
    ['at exactly 21:00 it is held', '2026-11-21T00:00:00.000Z', '2026-11-21T11:00:00.000Z'],
    ['a millisecond before 21:00 it leaves', '2026-11-20T23:59:59.999Z', null],
    ['after midnight it waits for the same morning', '2026-11-21T05:00:00.000Z', '2026-11-21T11:00:00.000Z'],
    ['a millisecond before 8:00', '2026-11-21T10:59:59.999Z', '2026-11-21T11:00:00.000Z'],
    ['at 8:00 sharp it leaves', '2026-11-21T11:00:00.000Z', null],
    ['in the afternoon', '2026-11-20T18:00:00.000Z', null],
  ])('%s', (_, at, until) => {
    expect(findQuietEnd(night, saoPaulo, new Date(at))).toEqual(until && new Date(until))
  })

  test('may lie within one day, and can be turned off', () => {
    const siesta = { isEnabled: true, start: '12:00', end: '14:00' }
    expect(findQuietEnd(siesta, saoPaulo, new Date('2026-11-20T15:00:00Z'))).toEqual(
      new Date('2026-11-20T17:00:00.000Z'),
    )
    expect(findQuietEnd(siesta, saoPaulo, new Date('2026-11-20T17:00:00Z'))).toBeNull()
    expect(
      findQuietEnd({ ...night, isEnabled: false }, saoPaulo, new Date('2026-11-21T03:00:00Z')),
    ).toBeNull()
  })

  test('an end that a clock change skips becomes the first instant after it', () => {
    const until = { isEnabled: true, start: '22:00', end: '02:30' }
    // New York springs forward on 2026-03-08: 02:00 EST is 03:00 EDT, 07:00 UTC.
    expect(findQuietEnd(until, newYork, new Date('2026-03-08T05:00:00Z'))).toEqual(
      new Date('2026-03-08T07:00:00.000Z'),
    )
    // Auckland on 2026-09-27: 02:00 NZST is 03:00 NZDT, 14:00 UTC of the day before.
    expect(findQuietEnd(until, auckland, new Date('2026-09-26T12:00:00Z'))).toEqual(
      new Date('2026-09-26T14:00:00.000Z'),
    )
  })

  test('an end that occurs twice is the first one still ahead', () => {
    const until = { isEnabled: true, start: '22:00', end: '01:45' }
    // New York on 2026-11-01: 01:45 at 05:45 and at 06:45 UTC.
    expect(findQuietEnd(until, newYork, new Date('2026-11-01T05:30:00Z'))).toEqual(
      new Date('2026-11-01T05:45:00.000Z'),
    )
    expect(findQuietEnd(until, newYork, new Date('2026-11-01T06:30:00Z'))).toEqual(
      new Date('2026-11-01T06:45:00.000Z'),
    )
  })
})

describe('other holds', () => {
  const start = new Date('2026-11-20T12:00:00.000Z')
  const none: HoldState = { reason: null, since: null, heldMs: 0, tries: 0 }
  const later = (ms: number) => new Date(start.getTime() + ms)
  const stateOf = (hold: { reason: string; since: Date | null; heldMs: number; tries: number }): HoldState =>
    hold

  test('are rechecked every 15 minutes, and end after 24 hours in total', () => {
    let state = none
    let now = start
    let looks = 0
    for (;;) {
      const hold = extendHold(state, 'not-connected', now)
      if (!hold) break
      expect(hold.until.getTime() - now.getTime()).toBe(15 * 60_000)
      state = stateOf(hold)
      now = hold.until
      looks += 1
    }
    expect([looks, now]).toEqual([96, later(24 * 3_600_000)])
  })

  test('use exponential backoff from 15 seconds to 15 minutes while the provider is down', () => {
    let state = none
    let now = start
    const waits: number[] = []
    for (let i = 0; i < 8; i += 1) {
      const hold = extendHold(state, 'provider-unavailable', now)!
      waits.push((hold.until.getTime() - now.getTime()) / 1000)
      state = stateOf(hold)
      now = hold.until
    }
    expect(waits).toEqual([15, 30, 60, 120, 240, 480, 900, 900])
  })

  test('do not count quiet hours; another cause restarts the backoff, not the 24 hours', () => {
    const first = extendHold(none, 'provider-unavailable', start)!
    const quiet = holdForQuietHours(stateOf(first), later(10 * 3_600_000), first.until)
    expect(quiet).toMatchObject({ reason: 'quiet-hours', heldMs: 15_000, since: null })
    const next = extendHold(stateOf(quiet), 'template-pending', later(10 * 3_600_000))!
    expect(next).toMatchObject({ heldMs: 15_000, until: later(10.25 * 3_600_000) })
    const last = extendHold({ ...next, heldMs: 24 * 3_600_000 - 1_000, since: null }, 'not-connected', start)!
    expect(last.until).toEqual(later(1_000))
  })

  test("end with the number's limit if that is sooner", () => {
    expect(extendHold(none, 'number-limit', start, { freeAt: later(60_000) })!.until).toEqual(later(60_000))
    expect(extendHold(none, 'number-limit', start, { freeAt: later(7_200_000) })!.until).toEqual(
      later(900_000),
    )
  })
})

describe('days of the scan', () => {
  test('start at the first quarter of an hour from their time on', () => {
    expect(getScanInstant('2026-11-20', '10:00', saoPaulo)).toEqual(new Date('2026-11-20T13:00:00.000Z'))
    expect(getScanInstant('2026-11-20', '10:01', saoPaulo)).toEqual(new Date('2026-11-20T13:15:00.000Z'))
    expect(getScanInstant('2026-11-20', '10:00', auckland)).toEqual(new Date('2026-11-19T21:00:00.000Z'))
  })

  const days = (now: string, done: string | null, activated = '2026-01-01T00:00:00Z', zone = saoPaulo) =>
    listDaysToScan({ sendAt: '10:00', zone, now: new Date(now) }, done, new Date(activated))

  test('are scanned once per local day, from their time on', () => {
    expect(days('2026-11-20T12:59:59.999Z', '2026-11-19')).toEqual([])
    expect(days('2026-11-20T13:00:00.000Z', '2026-11-19')).toEqual(['2026-11-20'])
    expect(days('2026-11-20T20:00:00.000Z', '2026-11-20')).toEqual([])
    expect(days('2026-11-19T21:00:00.000Z', '2026-11-19', undefined, auckland)).toEqual(['2026-11-20'])
  })

  test('make up the last three missed days, but none before the automation was turned on', () => {
    expect(days('2026-11-20T13:00:00.000Z', '2026-11-18')).toEqual(['2026-11-19', '2026-11-20'])
    expect(days('2026-11-20T13:00:00.000Z', '2026-11-15')).toEqual([
      '2026-11-17',
      '2026-11-18',
      '2026-11-19',
      '2026-11-20',
    ])
    expect(days('2026-11-20T12:00:00.000Z', '2026-11-18')).toEqual(['2026-11-19'])
    expect(days('2026-11-20T13:00:00.000Z', '2026-11-15', '2026-11-20T12:00:00Z')).toEqual(['2026-11-20'])
    expect(days('2026-11-20T13:00:00.000Z', null, '2026-11-20T12:00:00Z')).toEqual(['2026-11-20'])
  })

  test('celebrate 29 February on the 28th in other years', () => {
    expect(listBirthdays('2027-02-28')).toEqual(['02-28', '02-29'])
    expect(listBirthdays('2028-02-28')).toEqual(['02-28'])
    expect(listBirthdays('2028-02-29')).toEqual(['02-29'])
    expect(listBirthdays('2026-11-20')).toEqual(['11-20'])
  })
})

describe('coupons (rule 9)', () => {
  test('cashback excludes shipping and refunds, rounds half up, and is between 0 and its limit', () => {
    const order = { total: '209.90', shipping: '20.00', refunded_total: '0.00', currency: 'BRL' }
    expect(calculateCashback('BRL', order, { percent: 10, maxAmount: null })).toBe(18.99)
    expect(calculateCashback('BRL', order, { percent: 10, maxAmount: 15 })).toBe(15)
    expect(
      calculateCashback('BRL', { ...order, refunded_total: '189.90' }, { percent: 10, maxAmount: null }),
    ).toBe(0)
    expect(
      calculateCashback('BRL', { ...order, refunded_total: '209.90' }, { percent: 10, maxAmount: null }),
    ).toBe(0)
    const small = { total: '0.05', shipping: '0', refunded_total: '0', currency: 'BRL' }
    expect(calculateCashback('BRL', small, { percent: 10, maxAmount: null })).toBe(0.01)
    expect(calculateCashback('BRL', { ...small, total: '100.20' }, { percent: 12.5, maxAmount: null })).toBe(
      12.53,
    )
    const pesos = { total: '9990.00', shipping: '0', refunded_total: '0', currency: 'CLP' }
    expect(calculateCashback('CLP', pesos, { percent: 1.5, maxAmount: null })).toBe(150)
  })

  test('have a random code, and end at the last instant of the local day', () => {
    expect(generateCouponCode('BACK')).toMatch(/^BACK-[A-HJ-NP-Z2-9]{6}$/)
    expect(new Set(Array.from({ length: 200 }, () => generateCouponCode('A'))).size).toBe(200)
    expect(getCouponEnd(7, new Date('2026-11-21T01:00:00Z'), saoPaulo)).toEqual(
      new Date('2026-11-28T02:59:59.999Z'),
    )
    expect(getEndOfDay('2026-11-20', auckland)).toEqual(new Date('2026-11-20T10:59:59.999Z'))
  })
})

describe('walking a flow (rule 3)', () => {
  const text = (value: string): AutomationMessage => ({
    text: value,
    mediaUrl: null,
    mediaType: null,
    officialapiTemplateId: null,
    templateParameters: { header: [], body: [], buttons: [] },
  })
  const coupon = { type: 'percentage', value: 10, prefix: 'BACK', minimumAmount: null, validDays: 7 } as const
  const flow: Flow = {
    start: 'w1',
    steps: [
      { id: 'w1', type: 'wait', minutes: 60, next: 'w2' },
      { id: 'w2', type: 'wait', minutes: 30, next: 'pc' },
      { id: 'pc', type: 'purchase-check', paidOnly: true, ifPurchased: 'm3', ifNot: 'c1' },
      { id: 'c1', type: 'coupon', coupon, next: 'm2' },
      { id: 'm2', type: 'message', message: text('two'), next: null },
      { id: 'm3', type: 'message', message: text('three'), next: null },
    ],
  }
  const due = new Date('2026-11-20T12:00:00.000Z')
  const facts = {
    now: due,
    skipsWaits: false,
    purchased: { any: false, paid: false },
    coupons: new Set<string>(),
  }
  const from = (stepId: string | null, given: Partial<typeof facts> = {}) =>
    walk(flow, text('one'), { stepId, at: due }, { ...facts, ...given })

  test('starts with the first message, before the flow', () => {
    expect(from(null).stop).toEqual({ at: 'message', stepId: null, message: text('one'), due })
    expect(findNextStep(flow, null)?.id).toBe('w1')
    expect(findNextStep(flow, 'm2')).toBeNull()
    expect(findNextStep(null, null)).toBeNull()
  })

  test('counts a wait from the end of the previous one, not from when a late worker ran', () => {
    const late = new Date('2026-11-20T12:20:00.000Z')
    expect(from('w1', { now: late }).stop).toEqual({
      at: 'wait',
      stepId: 'w2',
      until: new Date('2026-11-20T12:30:00.000Z'),
    })
    expect(from('w1', { now: new Date('2026-11-20T12:31:00Z') }).stop).toMatchObject({ at: 'coupon' })
  })

  test('takes the branch of a check, and waits for a coupon', () => {
    expect(from('w2').stop).toEqual({ at: 'coupon', stepId: 'c1', coupon })
    expect(from('w2', { coupons: new Set(['c1']) }).stop).toMatchObject({ at: 'message', stepId: 'm2' })
    // It requires a paid order.
    expect(from('pc', { purchased: { any: true, paid: false } }).stop).toMatchObject({ stepId: 'c1' })
    const bought = from('pc', { purchased: { any: true, paid: true } })
    expect(bought).toMatchObject({ stop: { at: 'message', stepId: 'm3' }, passedPurchaseCheck: true })
    expect(bought.visits.map((each) => [each.stepId, each.outcome])).toEqual([
      ['pc', 'purchased'],
      ['m3', null],
    ])
  })

  test('ends at a branch without a next step', () => {
    const ends: Flow = {
      start: 'pc',
      steps: [
        { id: 'pc', type: 'purchase-check', paidOnly: false, ifPurchased: null, ifNot: 'm2' },
        flow.steps[4]!,
      ],
    }
    const bought = { ...facts, purchased: { any: true, paid: false } }
    expect(walk(ends, text('one'), { stepId: 'pc', at: due }, bought).stop).toEqual({
      at: 'end',
      reason: 'purchased',
    })
    const turned: Flow = {
      ...ends,
      steps: [{ ...ends.steps[0]!, ifPurchased: 'm2', ifNot: null } as never, ends.steps[1]!],
    }
    expect(walk(turned, text('one'), { stepId: 'pc', at: due }, facts).stop).toEqual({
      at: 'end',
      reason: 'flow-ended',
    })
  })

  test('skips every wait for run', () => {
    const early = { now: new Date('2026-11-20T11:00:00Z'), skipsWaits: true, coupons: new Set(['c1']) }
    expect(from('w1', early).stop).toMatchObject({ at: 'message', stepId: 'm2' })
  })
})

describe('eligibility and conditions (rule 1)', () => {
  const open = { status: 'open', payment_status: 'paid' }
  const cancelled = { status: 'cancelled', payment_status: 'voided' }
  const pending = { status: 'open', payment_status: 'pending' }
  const refunded = { status: 'open', payment_status: 'refunded' }
  test.each([
    ['order-created', [true, false, true, true]],
    ['payment-reminder', [false, false, true, false]],
    ['order-paid', [true, false, true, true]],
    ['order-shipped', [true, false, true, true]],
    ['order-delivered', [true, false, true, true]],
    ['order-cancelled', [false, true, false, false]],
    ['post-purchase', [true, false, true, false]],
    ['review-request', [true, false, true, false]],
    ['cashback', [true, false, true, false]],
  ] as const)('%s: paid, cancelled, pending, refunded', (type, expected) => {
    expect([open, cancelled, pending, refunded].map((order) => isOrderEligible(type, order, 1))).toEqual(
      expected,
    )
  })

  test('require cashback over 0, and a cart that is neither ordered nor emptied', () => {
    expect(isOrderEligible('cashback', open, 0)).toBe(false)
    const cart = {
      order_id: null,
      total: '10.00',
      items: [{ productId: '1', name: 'Mug', quantity: 1, total: '10.00' }],
    }
    expect(isCartEligible(cart)).toBe(true)
    expect(isCartEligible({ ...cart, order_id: '9' })).toBe(false)
    expect(isCartEligible({ ...cart, items: [] })).toBe(false)
    expect(isCartEligible({ ...cart, total: '0.00' })).toBe(false)
  })

  const facts = {
    total: '100.00',
    currency: 'BRL',
    productIds: ['1', '2'],
    categoryIds: new Set(['301']),
    paymentMethod: 'credit-card',
    hasEarlierOrder: false,
  }
  const none = defaultConditions('order-created')
  test.each([
    ['none', {}, true],
    ['minAmount at', { minAmount: 100 }, true],
    ['minAmount over', { minAmount: 100.01 }, false],
    ['maxAmount at', { maxAmount: 100 }, true],
    ['maxAmount under', { maxAmount: 99.99 }, false],
    ['any line has the product', { productIds: ['2', '9'] }, true],
    ['no line has the product', { productIds: ['9'] }, false],
    ['excluded product', { excludedProductIds: ['2'] }, false],
    ['other excluded product', { excludedProductIds: ['9'] }, true],
    ['category', { categoryIds: ['301'] }, true],
    ['other category', { categoryIds: ['302'] }, false],
    ['payment method', { paymentMethods: ['pix', 'credit-card'] }, true],
    ['other payment method', { paymentMethods: ['pix'] }, false],
    ['first order', { customers: 'first-order' }, true],
    ['returning', { customers: 'returning' }, false],
  ] as const)('%s', (_, conditions, expected) => {
    expect(meetsConditions({ ...none, ...conditions } as never, facts, 'BRL')).toBe(expected)
  })

  test('never compare amounts of two currencies', () => {
    const foreign = { ...facts, total: '1000.00', currency: 'JPY' }
    expect(meetsConditions({ ...none, minAmount: 150 }, foreign, 'BRL')).toBe(false)
    expect(meetsConditions({ ...none, maxAmount: 5000 }, foreign, 'BRL')).toBe(false)
    expect(meetsConditions(none, foreign, 'BRL')).toBe(true)
  })

  test('match returning customers and renamed payment methods; carts have no method', () => {
    const returning = { ...facts, hasEarlierOrder: true }
    expect(meetsConditions({ ...none, customers: 'returning' }, returning, 'BRL')).toBe(true)
    expect(meetsConditions({ ...none, customers: 'first-order' }, returning, 'BRL')).toBe(false)
    expect(['Credit Card', 'credit_card', 'PIX', 'wallet', null].map(parsePaymentMethod)).toEqual([
      'credit-card',
      'credit-card',
      'pix',
      'other',
      'other',
    ])
    expect(
      meetsConditions({ ...none, paymentMethods: ['pix'] }, { ...facts, paymentMethod: null }, 'BRL'),
    ).toBe(true)
  })
})
