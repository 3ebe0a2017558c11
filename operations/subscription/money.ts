/** Computes prices, coupon discounts and proration in whole cents, never in floating point. */

import {
  getPlan,
  amounts as money,
  type PlanCurrency,
  paidPlans,
  planCurrency,
} from '#operations/store/index'

export type PaidPlan = (typeof paidPlans)[number]
export type BillingCycle = 'monthly' | 'yearly'
export { paidPlans, planCurrency }

/** Amounts of plans, whose prices are in BRL or USD (rule 14): both have two decimals. */
export const amounts = { ...money, ...money.inCurrency('BRL' satisfies PlanCurrency) }

/** A coupon that a subscription holds, or gets with its next payment. */
export interface HeldCoupon {
  code: string
  percentOff: number | null
  amountOff: string | null
  /** Number of further charges that the coupon applies to; null: no limit. */
  remainingCycles: number | null
  planIds: string[] | null
  billingCycles: BillingCycle[] | null
}

export const countMonths = (cycle: string | null): number => (cycle === 'yearly' ? 12 : 1)
export const getPlanRank = (planId: string): number => paidPlans.indexOf(planId as PaidPlan)

/** The current price of a plan, as decimal text. */
export function listPrice(planId: string, cycle: BillingCycle, currency: string): string {
  const { prices } = getPlan(planId)
  if (!prices) throw new Error(`${planId} is not sold`)
  return prices[currency as PlanCurrency][cycle]
}

/** The discount of a coupon in cents: percentages round half up, and it never exceeds the price. */
export function computeDiscount(price: bigint, coupon: HeldCoupon | null): bigint {
  if (!coupon) return 0n
  const off =
    coupon.percentOff !== null
      ? amounts.applyPercentage(price, coupon.percentOff)
      : amounts.toCents(coupon.amountOff ?? '0')
  return amounts.minCents(off, price)
}

/** The share of an amount for `part` of `whole` milliseconds, rounded half up and clamped to 0 and the amount. */
export function computeShare(cents: bigint, part: number, whole: number): bigint {
  if (part <= 0 || whole <= 0) return 0n
  return amounts.divideHalfUp(cents * BigInt(Math.min(part, whole)), BigInt(whole))
}

/** The largest whole amount whose share for `part` does not exceed `cents`. */
export const computeWhole = (cents: bigint, part: number, whole: number): bigint =>
  part <= 0 ? 0n : (cents * BigInt(whole)) / BigInt(Math.min(part, whole))

/** Whether a coupon applies to a plan and cycle. */
export const isCouponApplicable = (
  coupon: Pick<HeldCoupon, 'planIds' | 'billingCycles'>,
  planId: string,
  cycle: string,
): boolean =>
  (coupon.planIds === null || coupon.planIds.includes(planId)) &&
  (coupon.billingCycles === null || coupon.billingCycles.includes(cycle as BillingCycle))

/** The coupon after one more charge; null when it is used up. */
export function consumeCoupon(coupon: HeldCoupon | null): HeldCoupon | null {
  if (!coupon || coupon.remainingCycles === null) return coupon
  return coupon.remainingCycles > 1 ? { ...coupon, remainingCycles: coupon.remainingCycles - 1 } : null
}
