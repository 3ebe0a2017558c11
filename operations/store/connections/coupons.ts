/** Coupons that are promised to shoppers: the one way to the platform, and the one word on how long one holds. */

import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { toCents } from '#runtime/values/money'
import type { CouponSpec, CouponTerms, EcommercePort } from '../ecommerce/port.ts'

/** Why `promise` refuses a code that the platform has with other terms. */
export const couponDiffers = 'coupon-differs'

/**
 * Makes a code at the platform, or finds that it is there with what is promised. Not inside a transaction. Throws
 * `Refused`, with `couponDiffers` where it gives something else. `until`: how long it is promised, by default until the
 * coupon's end; null for ever.
 */
export async function promise(
  { port, store }: { port: EcommercePort; store: ProviderStore },
  coupon: CouponSpec,
  until: string | null = coupon.endsAt,
): Promise<void> {
  const { terms } = await port.ensureCoupon(store, coupon)
  const fault = differenceOf({ ...coupon, endsAt: until }, terms)
  if (fault) throw new Refused(couponDiffers, `${coupon.code} ${fault}: choose another code`)
}

/** What of a promise the platform's code would not keep, as the end of a sentence; null: all is kept. */
export function differenceOf(promised: CouponTerms, terms: CouponTerms | null): string | null {
  const there = 'exists at your platform and'
  if (terms === null) return `${there} is another kind of discount`
  if (terms.type !== promised.type || !isSame(terms.value, promised.value)) {
    return `${there} gives ${gives(terms)}, not ${gives(promised)}`
  }
  if (cents(terms.minimumAmount) > cents(promised.minimumAmount)) {
    return `${there} needs an order of ${terms.minimumAmount} or more`
  }
  const { usageLimit } = terms
  if (usageLimit !== null && (promised.usageLimit === null || usageLimit < promised.usageLimit)) {
    return `${there} may be used ${usageLimit} times in all`
  }
  if (terms.endsAt !== null && seconds(terms.endsAt) < seconds(promised.endsAt)) {
    return `${there} ends at ${terms.endsAt}`
  }
  return null
}

/** Whether a coupon can still be used at an instant; one without an end always. */
export const holds = (endsAt: Date | string | null, now: Date): boolean =>
  endsAt === null || new Date(endsAt) >= now

const cents = (amount: string | null): bigint => (amount === null ? 0n : toCents(amount))
const isSame = (one: string | null, other: string | null): boolean =>
  one === null || other === null ? one === other : toCents(one) === toCents(other)
/** Platforms keep no milliseconds. */
const seconds = (at: string | null): number =>
  at === null ? Number.POSITIVE_INFINITY : Math.floor(Date.parse(at) / 1000)

function gives({ type, value }: CouponTerms): string {
  if (type === 'free-shipping') return 'free shipping'
  return type === 'percentage' ? `${Number(value)} %` : `${value} off`
}
