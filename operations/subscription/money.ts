/** Prices, coupons and shares of a period: whole cents, never floating point. */

import { amounts, type PlanCurrency, paidPlans, planCurrency, planOf } from '#operations/store/door'

export type PaidPlan = (typeof paidPlans)[number]
export type BillingCycle = 'monthly' | 'yearly'
export { paidPlans, planCurrency }

/** A coupon that a subscription holds, or will with its next payment. */
export interface HeldCoupon {
  code: string
  percentOff: number | null
  amountOff: string | null
  /** Charges it still holds for; null: for ever. */
  remainingCycles: number | null
  planIds: string[] | null
  billingCycles: BillingCycle[] | null
}

export const monthsOf = (cycle: string | null): number => (cycle === 'yearly' ? 12 : 1)
export const rankOf = (planId: string): number => paidPlans.indexOf(planId as PaidPlan)

/** What a plan costs now; decimal text. */
export function listPrice(planId: string, cycle: BillingCycle, currency: string): string {
  const { prices } = planOf(planId)
  if (!prices) throw new Error(`${planId} is not sold`)
  return prices[currency as PlanCurrency][cycle]
}

/** What a coupon takes off a price, in cents: a percentage half up, and never more than the price. */
export function discountOf(price: bigint, coupon: HeldCoupon | null): bigint {
  if (!coupon) return 0n
  const off =
    coupon.percentOff !== null
      ? amounts.percentageOf(price, coupon.percentOff)
      : amounts.toCents(coupon.amountOff ?? '0')
  return amounts.lesser(off, price)
}

/** `part` of `whole` milliseconds of an amount, half up; nothing outside them. */
export function shareOf(cents: bigint, part: number, whole: number): bigint {
  if (part <= 0 || whole <= 0) return 0n
  return amounts.halfUp(cents * BigInt(Math.min(part, whole)), BigInt(whole))
}

/** The most that a whole may be for `part` of it to come to no more than an amount. */
export const wholeOf = (cents: bigint, part: number, whole: number): bigint =>
  part <= 0 ? 0n : (cents * BigInt(whole)) / BigInt(Math.min(part, whole))

/** Whether a coupon holds for a plan and cycle. */
export const fits = (
  coupon: Pick<HeldCoupon, 'planIds' | 'billingCycles'>,
  planId: string,
  cycle: string,
): boolean =>
  (coupon.planIds === null || coupon.planIds.includes(planId)) &&
  (coupon.billingCycles === null || coupon.billingCycles.includes(cycle as BillingCycle))

/** What is left of a coupon after one more charge. */
export function afterCharge(coupon: HeldCoupon | null): HeldCoupon | null {
  if (!coupon || coupon.remainingCycles === null) return coupon
  return coupon.remainingCycles > 1 ? { ...coupon, remainingCycles: coupon.remainingCycles - 1 } : null
}
