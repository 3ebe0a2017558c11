/** Coupons of automations (rule 9): codes, ends, amounts. No database, no clock. */
import { randomInt } from 'node:crypto'
import { lesser, notNegative, percentageOf, toCents, toNumber } from '#runtime/values/money'
import type { CashbackSettings } from '../kinds.ts'
import type { CouponSpec } from '../types.ts'
import { addDays, endOfDay, localDay } from './clock-times.ts'

/** Without letters and digits that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** `BACK-K7QM4T`: nobody can guess another one from it. */
export const couponCode = (prefix: string): string =>
  `${prefix}-${Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('')}`

/** The last instant of the local day so many days on. */
export const couponEnd = (validDays: number, now: Date, zone: string): Date =>
  endOfDay(addDays(localDay(now, zone), validDays), zone)

/** Percent of what was paid for goods and kept, cents half up, at most `maxAmount`. Money as decimal text; never below 0. */
export function cashbackAmount(
  order: { total: string; shipping: string; refunded_total: string },
  { percent, maxAmount }: Pick<CashbackSettings, 'percent' | 'maxAmount'>,
): number {
  const base = toCents(order.total) - toCents(order.shipping) - toCents(order.refunded_total)
  const amount = percentageOf(notNegative(base), percent)
  return toNumber(maxAmount === null ? amount : lesser(amount, toCents(maxAmount)))
}

/** The same of an order in the currency that coupons are in; of another there is none. */
export const cashbackIn = (
  currency: string,
  order: Parameters<typeof cashbackAmount>[0] & { currency: string },
  settings: Parameters<typeof cashbackAmount>[1],
): number => (order.currency === currency ? cashbackAmount(order, settings) : 0)

/** What the cashback of an order is as a coupon. */
export const cashbackCoupon = (settings: CashbackSettings, amount: number): CouponSpec => ({
  type: 'amount',
  value: amount,
  prefix: settings.prefix,
  minimumAmount: settings.minimumAmount,
  validDays: settings.validDays,
})
