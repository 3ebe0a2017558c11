/** Calculates codes, expiry and amounts of automations' coupons (rule 9). No database, no clock. */
import { randomInt } from 'node:crypto'
import { toCanonicalJson } from '#runtime/values/changes'
import { applyPercentage, atLeastZero, inCurrency, minCents } from '#runtime/values/money'
import type { CashbackSettings } from '../kinds.ts'
import type { CouponSpec } from '../types.ts'
import { addDays, getEndOfDay, localDay } from './clock-times.ts'

/** Letters and digits, without those that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** A random code such as `BACK-K7QM4T`, from a secure generator: nobody can guess other codes from it. */
export const generateCouponCode = (prefix: string): string =>
  `${prefix}-${Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('')}`

/** Whether two coupons have the same terms. */
export const isSameCoupon = (one: CouponSpec, other: CouponSpec): boolean =>
  toCanonicalJson(one) === toCanonicalJson(other)

/** The last instant of the local day `validDays` from now. */
export const getCouponEnd = (validDays: number, now: Date, zone: string): Date =>
  getEndOfDay(addDays(localDay(now, zone), validDays), zone)

/**
 * The cashback of an order: `percent` of the total without shipping and refunds, rounded half up to cents, at most
 * `maxAmount`, never below 0. It is 0 if the order is not in `currency`, the currency of the store's coupons. The order's
 * amounts are decimal text.
 */
export function calculateCashback(
  currency: string,
  order: { total: string; shipping: string; refunded_total: string; currency: string },
  { percent, maxAmount }: Pick<CashbackSettings, 'percent' | 'maxAmount'>,
): number {
  if (order.currency !== currency) return 0
  const { toCents, toNumber } = inCurrency(currency)
  const base = toCents(order.total) - toCents(order.shipping) - toCents(order.refunded_total)
  const amount = applyPercentage(atLeastZero(base), percent)
  return toNumber(maxAmount === null ? amount : minCents(amount, toCents(maxAmount)))
}

/** The coupon that pays out a cashback. */
export const buildCashbackCoupon = (settings: CashbackSettings, amount: number): CouponSpec => ({
  type: 'amount',
  value: amount,
  prefix: settings.prefix,
  minimumAmount: settings.minimumAmount,
  validDays: settings.validDays,
})
