/** What is agreed to before anybody pays: amounts frozen at the offer, and what they do to the row once paid (rules 7 and 9). */
import { amounts, periods } from '#operations/store/door'
import { afterCharge, type BillingCycle, discountOf, fits, type HeldCoupon, monthsOf } from './money.ts'
import { chargeOf, couponOf, nextCharge, restOf, type SubscriptionRow, unusedOf } from './moves.ts'

/** `now`: a new period begins; `same-period`: the plan changes within it; `at-period-end`: nothing is due until then. */
export type Begins = 'now' | 'same-period' | 'at-period-end'

export interface Target {
  planId: string
  billingCycle: BillingCycle
}

/** Kept as JSON with a checkout or an intent. Money is decimal text. */
export interface Terms extends Target {
  begins: Begins
  /** Of a whole period, before coupon. */
  price: string
  currency: string
  /** With the charges it still has, this one among them where it is new. */
  coupon: HeldCoupon | null
  isCouponNew: boolean
  /** Of a whole period, after coupon. */
  cost: string
  /** Due now: charge less credit less balance. */
  amount: string
  charge: string
  discount: string
  /** Unused paid time. */
  credit: string
  /** By how much the balance changes once it is paid; negative where it was used. */
  balanceDelta: string
  /** The period that it was counted on. */
  periodStart: string
  periodEnd: string
  /** Of the subscription that it was priced on; left out by what was written before there were versions. */
  version?: number
}

/** Whether what was offered may be applied still: nothing that it was priced on has changed. */
export const stillFits = (row: SubscriptionRow, terms: Terms): boolean => (terms.version ?? 0) === row.version

/** `keepsCoupon`: the coupon held before goes on, where it fits and no new one is given. */
export function termsOf(
  row: SubscriptionRow,
  offer: Target & {
    begins: Begins
    price: string
    currency: string
    coupon: HeldCoupon | null
    keepsCoupon: boolean
    now: Date
  },
): Terms {
  const { planId, billingCycle, begins, price, currency, now } = offer
  const held = offer.keepsCoupon ? couponOf(row) : null
  const coupon = offer.coupon ?? (held && fits(held, planId, billingCycle) ? held : null)
  const cents = amounts.toCents(price)
  const cost = cents - discountOf(cents, coupon)
  const isLater = begins === 'at-period-end'
  const part = (whole: bigint): bigint =>
    isLater ? 0n : begins === 'same-period' ? restOf(row, whole, now) : whole
  const charge = part(cost)
  const credit = isLater ? 0n : unusedOf(row, now)
  const balance = isLater ? 0n : amounts.toCents(row.credit_balance)
  const left = amounts.notNegative(credit + balance - charge)
  return {
    planId,
    billingCycle,
    begins,
    price,
    currency,
    coupon,
    isCouponNew: offer.coupon !== null,
    cost: amounts.toMoney(cost),
    amount: amounts.toMoney(amounts.notNegative(charge - credit - balance)),
    charge: amounts.toMoney(charge),
    discount: amounts.toMoney(part(cents) - charge),
    credit: amounts.toMoney(credit),
    balanceDelta: amounts.toMoney(left - balance),
    periodStart: row.current_period_start.toISOString(),
    periodEnd: row.current_period_end.toISOString(),
    version: row.version,
  }
}

/** What of the charge was not paid with money. */
export const creditAppliedOf = ({ charge, amount }: Terms): string =>
  amounts.toMoney(amounts.toCents(charge) - amounts.toCents(amount))

/** The coupon after the payment of these terms: one held before has had its charge in this period already. */
function couponAfter({ begins, coupon, isCouponNew }: Terms): HeldCoupon | null {
  return begins === 'now' || isCouponNew ? afterCharge(coupon) : coupon
}

/** What terms do to the row at the instant they are paid. */
export function paidWith(row: SubscriptionRow, terms: Terms, at: Date): Partial<SubscriptionRow> {
  const { planId, billingCycle, price, begins, cost } = terms
  if (begins === 'at-period-end') return { ...scheduledWith(row, terms), currency: terms.currency }
  const delta = amounts.toCents(terms.balanceDelta)
  return {
    plan_id: planId,
    billing_cycle: billingCycle,
    price,
    currency: terms.currency,
    period_cost: cost,
    coupon: couponAfter(terms),
    credit_balance: amounts.toMoney(amounts.notNegative(amounts.toCents(row.credit_balance) + delta)),
    scheduled_change: null,
    ...(begins === 'now' ? { ...newPeriod(at, billingCycle), ...restored } : {}),
  }
}

const restored: Partial<SubscriptionRow> = {
  status: 'active',
  grace_ends_at: null,
  cancelled_at: null,
  cancel_reason: null,
  cancel_comment: null,
  ends_at: null,
  paused_at: null,
  pause_reason: null,
}

function newPeriod(at: Date, billingCycle: BillingCycle): Partial<SubscriptionRow> {
  return {
    anchor_at: at,
    current_period_start: at,
    current_period_end: periods.addPeriod(at, monthsOf(billingCycle)),
  }
}

/** Holds from the end of the period; the plan and cycle of today: nothing is scheduled any more. */
export function scheduledWith(row: SubscriptionRow, terms: Terms): Partial<SubscriptionRow> {
  const { planId, billingCycle, price } = terms
  const isToday = planId === row.plan_id && billingCycle === row.billing_cycle
  const coupon = terms.isCouponNew ? { coupon: terms.coupon } : {}
  if (isToday) return { scheduled_change: null, ...coupon }
  return {
    scheduled_change: {
      planId,
      billingCycle,
      price,
      effectiveAt: row.current_period_end.toISOString(),
      ...coupon,
    },
  }
}

/** The charge that follows once these terms are paid. */
export function laterCharge(row: SubscriptionRow, terms: Terms, now: Date): string {
  const paid = { ...row, ...paidWith(row, terms, now), status: 'active', paused_at: null }
  return (
    nextCharge({ ...paid, agreement_id: 'new', agreement_status: 'authorized' })?.amount ??
    chargeOf(terms.price, null, '0').amount
  )
}
