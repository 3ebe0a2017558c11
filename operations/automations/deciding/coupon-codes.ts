/** Coupons of automations (rule 9): codes, expiry, amounts. No database, no clock. */
import { randomInt } from 'node:crypto'
import { applyPercentage, atLeastZero, minCents, toCents, toNumber } from '#runtime/values/money'
import type { CashbackSettings } from '../kinds.ts'
import type { CouponSpec } from '../types.ts'
import { addDays, getEndOfDay, localDay } from './clock-times.ts'

/** Excludes letters and digits that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** A random code such as `BACK-K7QM4T`; other codes cannot be guessed from it. */
export const generateCouponCode = (prefix: string): string =>
  `${prefix}-${Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('')}`

/** The last instant of the local day `validDays` from now. */
export const getCouponEnd = (validDays: number, now: Date, zone: string): Date =>
  getEndOfDay(addDays(localDay(now, zone), validDays), zone)

/** A percentage of the amount paid for goods, less refunds; cents half up, at most `maxAmount`, never below 0. Money is decimal text. */
export function calculateCashback(
  order: { total: string; shipping: string; refunded_total: string },
  { percent, maxAmount }: Pick<CashbackSettings, 'percent' | 'maxAmount'>,
): number {
  const base = toCents(order.total) - toCents(order.shipping) - toCents(order.refunded_total)
  const amount = applyPercentage(atLeastZero(base), percent)
  return toNumber(maxAmount === null ? amount : minCents(amount, toCents(maxAmount)))
}

/** The cashback if the order is in the currency of coupons, else 0. */
export const calculateCashbackIn = (
  currency: string,
  order: Parameters<typeof calculateCashback>[0] & { currency: string },
  settings: Parameters<typeof calculateCashback>[1],
): number => (order.currency === currency ? calculateCashback(order, settings) : 0)

/** The coupon that pays out a cashback. */
export const buildCashbackCoupon = (settings: CashbackSettings, amount: number): CouponSpec => ({
  type: 'amount',
  value: amount,
  prefix: settings.prefix,
  minimumAmount: settings.minimumAmount,
  validDays: settings.validDays,
})
