/** Coupons of the sandbox's shops: creates them for the port, and applies them to orders like a checkout does. */

import { Refused } from '#runtime/ports/errors'
import { applyPercentage, inCurrency, minCents, splitBy, sumCents } from '#runtime/values/money'
import type { CouponSpec, CouponTerms, PlatformOrderItem } from './port.ts'
import { findObjects, instantText, putObjects, type Shop, withShopLock } from './sandbox-rows.ts'

interface StoredCoupon extends CouponSpec {
  /** Number of orders with this coupon that are not cancelled. */
  used: number
}

/** The id of a coupon in `sandbox_objects`. Upper case, because codes are case-insensitive. */
const couponId = (code: string): string => code.trim().toUpperCase()

/**
 * Creates a coupon; an existing code stays unchanged. Throws `Refused` for an invalid value, and for a code that starts
 * with `REFUSE`.
 */
export function ensureCoupon(shop: Shop, coupon: CouponSpec): Promise<{ id: string; terms: CouponTerms }> {
  const id = couponId(coupon.code)
  if (id.startsWith('REFUSE')) {
    throw new Refused('coupon-refused', `The platform does not take the code ${coupon.code}`)
  }
  const value = coupon.value === null ? null : Number(coupon.value)
  const isRight =
    coupon.type === 'free-shipping'
      ? value === null
      : value !== null && value > 0 && (coupon.type === 'amount' || value <= 100)
  if (id === '' || !isRight)
    throw new Refused('invalid-coupon', 'The coupon has no value that the platform takes')
  return withShopLock(shop, async (locked) => {
    const [known] = await findObjects<StoredCoupon>(locked, 'coupon', [id])
    if (!known) await put(locked, id, { ...coupon, used: 0 })
    const { type, minimumAmount, usageLimit, endsAt, value: gives } = known ?? coupon
    return { id, terms: { type, value: gives, minimumAmount, usageLimit, endsAt } }
  })
}

/** Deletes a coupon: orders with its code get no discount any more. */
export async function revokeCoupon({ db, storeId }: Shop, code: string): Promise<void> {
  await db
    .deleteFrom('sandbox_objects')
    .where('store_id', '=', storeId)
    .where('kind', '=', 'coupon')
    .where('id', '=', couponId(code))
    .execute()
}

const put = (locked: Shop, id: string, data: StoredCoupon): Promise<void> =>
  putObjects(locked, 'coupon', [{ id, data, updatedAt: instantText(locked.clock.now()) }])

export interface AppliedCoupon {
  /** The code in the shop's spelling. */
  code: string
  items: PlatformOrderItem[]
  /** The coupon's discount in cents. */
  discount: bigint
  shipping: bigint
}

/**
 * Applies a coupon to a new order: it reduces the lines in proportion to their totals, to the cent, or the shipping (in
 * cents). An unknown code gives no discount. Throws `Refused` if the coupon has ended, is used up, needs a larger order or
 * has amounts in another currency than the order: they are in `shopCurrency`.
 */
export async function applyCoupon(
  locked: Shop,
  code: string,
  order: { items: PlatformOrderItem[]; shipping: bigint; placedAt: string; currency: string },
  shopCurrency: string,
): Promise<AppliedCoupon> {
  const { items, shipping, placedAt, currency } = order
  const { toCents } = inCurrency(currency)
  const id = couponId(code)
  const [coupon] = await findObjects<StoredCoupon>(locked, 'coupon', [id], true)
  if (!coupon) return { code: code.trim(), items, discount: 0n, shipping }
  const subtotal = sumCents(items.map((item) => toCents(item.total)))
  const refusal = (why: string) => new Refused('coupon-refused', `couponCode: ${coupon.code} ${why}`)
  if (coupon.endsAt !== null && Date.parse(placedAt) > Date.parse(coupon.endsAt)) throw refusal('has ended')
  if (coupon.usageLimit !== null && coupon.used >= coupon.usageLimit) throw refusal('is used up')
  if (currency !== shopCurrency && (coupon.type === 'amount' || coupon.minimumAmount !== null)) {
    throw refusal(`is in ${shopCurrency}, and the order in ${currency}`)
  }
  if (coupon.minimumAmount !== null && subtotal < toCents(coupon.minimumAmount)) {
    throw refusal(`needs an order of ${coupon.minimumAmount} or more`)
  }
  await put(locked, id, { ...coupon, used: coupon.used + 1 })
  if (coupon.type === 'free-shipping') return { code: coupon.code, items, discount: 0n, shipping: 0n }
  const discount = computeCouponDiscount(coupon, subtotal, currency)
  return { code: coupon.code, items: spreadDiscount(items, discount, currency), discount, shipping }
}

/** Changes the use counts of an order's coupons: by −1 when the order is cancelled, by 1 when it is reopened. */
export async function countCoupons(locked: Shop, codes: readonly string[], by: 1 | -1): Promise<void> {
  for (const coupon of await findObjects<StoredCoupon>(locked, 'coupon', codes.map(couponId), true)) {
    await put(locked, couponId(coupon.code), { ...coupon, used: Math.max(0, coupon.used + by) })
  }
}

/** The discount of a coupon on an amount, never more than the amount. */
export function computeCouponDiscount(
  { type, value }: Pick<CouponSpec, 'type' | 'value'>,
  amount: bigint,
  currency: string,
): bigint {
  if (type === 'free-shipping' || value === null) return 0n
  return minCents(
    amount,
    type === 'amount' ? inCurrency(currency).toCents(value) : applyPercentage(amount, Number(value)),
  )
}

/** Spreads a discount over lines in proportion to their totals. */
function spreadDiscount(items: PlatformOrderItem[], discount: bigint, currency: string): PlatformOrderItem[] {
  const { toCents, toMoney } = inCurrency(currency)
  const totals = items.map((item) => toCents(item.total))
  const shares = splitBy(discount, totals)
  return items.map((item, at) => ({ ...item, total: toMoney(totals[at]! - shares[at]!) }))
}
