/** Creates coupons promised to shoppers at the platform, and checks that an existing coupon keeps the promise. */

import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { hundredths } from '#runtime/values/money'
import type { CouponSpec, CouponTerms, EcommercePort } from '../ecommerce/port.ts'

/** Error code of the `Refused` that `guaranteeCoupon` throws if the coupon exists at the platform with other terms. */
export const couponDiffers = 'coupon-differs'

/**
 * Creates a coupon at the platform, or checks that an existing coupon with the same code keeps the promise. Must not be
 * called inside a transaction. Throws `Refused`, with the code `couponDiffers` if the terms are worse. `until`: end of the
 * promise, by default the coupon's end; null: the promise does not end.
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

/**
 * Deletes a coupon at the platform that was made for a person who was never given its code. Must not be called inside a
 * transaction. Succeeds if there is none.
 */
export const revokeCoupon = (
  { port, store }: { port: EcommercePort; store: ProviderStore },
  code: string,
): Promise<void> => port.revokeCoupon(store, code)

/** Describes how the platform's terms are worse than promised, as the end of a sentence; null if they are not worse. */
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

/** Whether a coupon has not ended yet at an instant. A coupon without an end never ends. */
export const isUsableAt = (endsAt: Date | string | null, now: Date): boolean =>
  endsAt === null || new Date(endsAt) >= now

const cents = (amount: string | null): bigint => (amount === null ? 0n : hundredths.toCents(amount))
const isSame = (one: string | null, other: string | null): boolean =>
  one === null || other === null ? one === other : cents(one) === cents(other)
/** Whole seconds, because platforms store no milliseconds. A coupon without an end counts as infinity. */
const seconds = (at: string | null): number =>
  at === null ? Number.POSITIVE_INFINITY : Math.floor(Date.parse(at) / 1000)

function describeDiscount({ type, value }: CouponTerms): string {
  if (type === 'free-shipping') return 'free shipping'
  return type === 'percentage' ? `${Number(value)} %` : `${value} off`
}
