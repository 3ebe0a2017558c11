/** Quotes fix the amounts when an offer is made, and determine the change of the row once it is paid (rules 7 and 9). */
import { periods } from '#operations/store/index'
import {
  amounts,
  type BillingCycle,
  computeDiscount,
  consumeCoupon,
  countMonths,
  type HeldCoupon,
  isCouponApplicable,
} from './money.ts'
import {
  computeCharge,
  computeNextCharge,
  computeUnusedAmount,
  getHeldCoupon,
  prorateToPeriodEnd,
  type SubscriptionRow,
} from './transitions.ts'

/**
 * `now`: a new period begins. `same-period`: the plan changes within the current period. `at-period-end`: the plan changes
 * when the current period ends, and nothing is due before.
 */
export type EffectiveFrom = 'now' | 'same-period' | 'at-period-end'

export interface Target {
  planId: string
  billingCycle: BillingCycle
}

/** Stored as JSON in the column `terms` of a checkout or an intent. Money is decimal text. */
export interface Quote extends Target {
  begins: EffectiveFrom
  /** Price of a whole period, before the coupon's discount. */
  price: string
  currency: string
  /** Its `remainingCycles` include this charge if the coupon is new. */
  coupon: HeldCoupon | null
  isCouponNew: boolean
  /** Cost of a whole period, after the coupon's discount. */
  cost: string
  /** Due now: `charge` minus `credit` minus the used credit balance. */
  amount: string
  charge: string
  discount: string
  /** Value of the unused paid time. */
  credit: string
  /** Change of the credit balance once the quote is paid; negative if the balance is used. */
  balanceDelta: string
  /** The current period when the quote was made, used for proration. */
  periodStart: string
  periodEnd: string
  /** Version of the subscription row that the quote was computed from; absent in quotes older than the version column. */
  version?: number
}

/** Whether a quote may still be applied: nothing that its amounts depend on has changed. */
export const isQuoteValid = (row: SubscriptionRow, quote: Quote): boolean =>
  (quote.version ?? 0) === row.version

/** Builds a quote. `keepsCoupon`: the held coupon stays if it applies to the target and no new coupon is given. */
export function buildQuote(
  row: SubscriptionRow,
  offer: Target & {
    begins: EffectiveFrom
    price: string
    currency: string
    coupon: HeldCoupon | null
    keepsCoupon: boolean
    now: Date
  },
): Quote {
  const { planId, billingCycle, begins, price, currency, now } = offer
  const held = offer.keepsCoupon ? getHeldCoupon(row) : null
  const coupon = offer.coupon ?? (held && isCouponApplicable(held, planId, billingCycle) ? held : null)
  const cents = amounts.toCents(price)
  const cost = cents - computeDiscount(cents, coupon)
  const isLater = begins === 'at-period-end'
  const part = (whole: bigint): bigint =>
    isLater ? 0n : begins === 'same-period' ? prorateToPeriodEnd(row, whole, now) : whole
  const charge = part(cost)
  const credit = isLater ? 0n : computeUnusedAmount(row, now)
  const balance = isLater ? 0n : amounts.toCents(row.credit_balance)
  const remaining = amounts.atLeastZero(credit + balance - charge)
  return {
    planId,
    billingCycle,
    begins,
    price,
    currency,
    coupon,
    isCouponNew: offer.coupon !== null,
    cost: amounts.toMoney(cost),
    amount: amounts.toMoney(amounts.atLeastZero(charge - credit - balance)),
    charge: amounts.toMoney(charge),
    discount: amounts.toMoney(part(cents) - charge),
    credit: amounts.toMoney(credit),
    balanceDelta: amounts.toMoney(remaining - balance),
    periodStart: row.current_period_start.toISOString(),
    periodEnd: row.current_period_end.toISOString(),
    version: row.version,
  }
}

/** The part of the charge that was covered by credit. */
export const computeCreditApplied = ({ charge, amount }: Quote): string =>
  amounts.toMoney(amounts.toCents(charge) - amounts.toCents(amount))

/** The coupon after the payment. Within a period, a coupon held before is not counted again. */
function computeCouponAfter({ begins, coupon, isCouponNew }: Quote): HeldCoupon | null {
  return begins === 'now' || isCouponNew ? consumeCoupon(coupon) : coupon
}

/** The changed columns of the subscription row when the quote is paid at `at`. */
export function buildPaidChange(row: SubscriptionRow, quote: Quote, at: Date): Partial<SubscriptionRow> {
  const { planId, billingCycle, price, begins, cost } = quote
  if (begins === 'at-period-end') return { ...buildScheduledChange(row, quote), currency: quote.currency }
  const delta = amounts.toCents(quote.balanceDelta)
  return {
    plan_id: planId,
    billing_cycle: billingCycle,
    price,
    currency: quote.currency,
    period_cost: cost,
    coupon: computeCouponAfter(quote),
    credit_balance: amounts.toMoney(amounts.atLeastZero(amounts.toCents(row.credit_balance) + delta)),
    scheduled_change: null,
    ...(begins === 'now' ? { ...buildNewPeriod(at, billingCycle), ...restored } : {}),
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

function buildNewPeriod(at: Date, billingCycle: BillingCycle): Partial<SubscriptionRow> {
  return {
    anchor_at: at,
    current_period_start: at,
    current_period_end: periods.addPeriod(at, countMonths(billingCycle)),
  }
}

/** Schedules a change for the end of the period. If the target is the current plan and cycle, drops the scheduled change. */
export function buildScheduledChange(row: SubscriptionRow, quote: Quote): Partial<SubscriptionRow> {
  const { planId, billingCycle, price } = quote
  const isToday = planId === row.plan_id && billingCycle === row.billing_cycle
  const coupon = quote.isCouponNew ? { coupon: quote.coupon } : {}
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

/** The amount of the recurring charge that follows once the quote is paid. */
export function computeLaterCharge(row: SubscriptionRow, quote: Quote, now: Date): string {
  const paid = { ...row, ...buildPaidChange(row, quote, now), status: 'active', paused_at: null }
  return (
    computeNextCharge({ ...paid, agreement_id: 'new', agreement_status: 'authorized' })?.amount ??
    computeCharge(quote.price, null, '0').amount
  )
}
