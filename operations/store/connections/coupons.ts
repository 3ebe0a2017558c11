/** Coupons promised to shoppers: created at the platform, and checked against the promise. */

import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { toCents } from '#runtime/values/money'
import type { CouponSpec, CouponTerms, EcommercePort } from '../ecommerce/port.ts'

/** Code of the `Refused` that `guaranteeCoupon` throws if the platform has the code with other terms. */
export const couponDiffers = 'coupon-differs'

/**
 * Creates a code at the platform, or checks that the existing one keeps the promise. Not inside a transaction. Throws
 * `Refused`, with `couponDiffers` if the terms differ. `until`: end of the promise, by default the coupon's end; null is
 * for ever.
 */
export async function guaranteeCoupon(
  { port, store }: { port: EcommercePort; store: ProviderStore },
  coupon: CouponSpec,
  until: string | null = coupon.endsAt,
): Promise<void> {
  const { terms } = await port.ensureCoupon(store, coupon)
  const fault = findDifference({ ...coupon, endsAt: until }, terms)
  if (fault) throw new Refused(couponDiffers, `${coupon.code} ${fault}: choose another code`)
}

/** How the platform's terms are worse than promised, as the end of a sentence; null if they are not. */
export function findDifference(promised: CouponTerms, terms: CouponTerms | null): string | null {
  const prefix = 'exists at your platform and'
  if (terms === null) return `${prefix} is another kind of discount`
  if (terms.type !== promised.type || !isSame(terms.value, promised.value)) {
    return `${prefix} gives ${describeDiscount(terms)}, not ${describeDiscount(promised)}`
  }
  if (cents(terms.minimumAmount) > cents(promised.minimumAmount)) {
    return `${prefix} needs an order of ${terms.minimumAmount} or more`
  }
  const { usageLimit } = terms
  if (usageLimit !== null && (promised.usageLimit === null || usageLimit < promised.usageLimit)) {
    return `${prefix} may be used ${usageLimit} times in all`
  }
  if (terms.endsAt !== null && seconds(terms.endsAt) < seconds(promised.endsAt)) {
    return `${prefix} ends at ${terms.endsAt}`
  }
  return null
}

/** Whether a coupon can still be used at an instant; always if it has no end. */
export const isUsableAt = (endsAt: Date | string | null, now: Date): boolean =>
  endsAt === null || new Date(endsAt) >= now

const cents = (amount: string | null): bigint => (amount === null ? 0n : toCents(amount))
const isSame = (one: string | null, other: string | null): boolean =>
  one === null || other === null ? one === other : toCents(one) === toCents(other)
/** Platforms store no milliseconds. */
const seconds = (at: string | null): number =>
  at === null ? Number.POSITIVE_INFINITY : Math.floor(Date.parse(at) / 1000)

function describeDiscount({ type, value }: CouponTerms): string {
  if (type === 'free-shipping') return 'free shipping'
  return type === 'percentage' ? `${Number(value)} %` : `${value} off`
}
