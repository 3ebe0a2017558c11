/** Coupons of the sandbox's shops: made through the port, taken off orders as a checkout would. */

import { Refused } from '#runtime/ports/errors'
import { lesser, percentageOf, splitBy, sumOf, toCents, toMoney } from '#runtime/values/money'
import type { CouponSpec, CouponTerms, PlatformOrderItem } from './port.ts'
import { findObjects, instantText, inTurn, putObjects, type Shop } from './sandbox-rows.ts'

interface StoredCoupon extends CouponSpec {
  /** Orders that carry it and are not cancelled. */
  used: number
}

/** Shoppers type codes in any case. */
const idOf = (code: string): string => code.trim().toUpperCase()

/**
 * Makes a coupon; a code that exists stays as it is. Throws `Refused` for a value that cannot be, and for a code that
 * begins with `REFUSE`.
 */
export function ensureCoupon(shop: Shop, coupon: CouponSpec): Promise<{ id: string; terms: CouponTerms }> {
  const id = idOf(coupon.code)
  if (id.startsWith('REFUSE')) {
    throw new Refused('coupon-refused', `The platform does not take the code ${coupon.code}`)
  }
  const value = coupon.value === null ? null : toCents(coupon.value)
  const isRight =
    coupon.type === 'free-shipping'
      ? value === null
      : value !== null && value > 0n && (coupon.type === 'amount' || value <= 100_00n)
  if (id === '' || !isRight)
    throw new Refused('invalid-coupon', 'The coupon has no value that the platform takes')
  return inTurn(shop, async (turn) => {
    const [known] = await findObjects<StoredCoupon>(turn, 'coupon', [id])
    if (!known) await put(turn, id, { ...coupon, used: 0 })
    const { type, minimumAmount, usageLimit, endsAt, value: gives } = known ?? coupon
    return { id, terms: { type, value: gives, minimumAmount, usageLimit, endsAt } }
  })
}

const put = (turn: Shop, id: string, data: StoredCoupon): Promise<void> =>
  putObjects(turn, 'coupon', [{ id, data, updatedAt: instantText(turn.clock.now()) }])

export interface Taken {
  /** As the shop writes it. */
  code: string
  items: PlatformOrderItem[]
  /** In cents. */
  discount: bigint
  shipping: bigint
}

/**
 * Takes a coupon off an order that is being placed: off its lines, each by its share to the cent, or its shipping
 * (in cents). A code that the shop does not know takes nothing off. Throws `Refused` where the coupon no longer holds,
 * or not for this order.
 */
export async function takeCoupon(
  turn: Shop,
  code: string,
  order: { items: PlatformOrderItem[]; shipping: bigint; placedAt: string },
): Promise<Taken> {
  const { items, shipping, placedAt } = order
  const id = idOf(code)
  const [coupon] = await findObjects<StoredCoupon>(turn, 'coupon', [id], true)
  if (!coupon) return { code: code.trim(), items, discount: 0n, shipping }
  const subtotal = sumOf(items.map((item) => toCents(item.total)))
  const refusal = (why: string) => new Refused('coupon-refused', `couponCode: ${coupon.code} ${why}`)
  if (coupon.endsAt !== null && Date.parse(placedAt) > Date.parse(coupon.endsAt)) throw refusal('has ended')
  if (coupon.usageLimit !== null && coupon.used >= coupon.usageLimit) throw refusal('is used up')
  if (coupon.minimumAmount !== null && subtotal < toCents(coupon.minimumAmount)) {
    throw refusal(`needs an order of ${coupon.minimumAmount} or more`)
  }
  await put(turn, id, { ...coupon, used: coupon.used + 1 })
  if (coupon.type === 'free-shipping') return { code: coupon.code, items, discount: 0n, shipping: 0n }
  const discount = couponOff(coupon, subtotal)
  return { code: coupon.code, items: lessened(items, discount), discount, shipping }
}

/** An order was cancelled (`by` −1) or opened again (1): its coupons may be used once more, or less. */
export async function countCoupons(turn: Shop, codes: readonly string[], by: 1 | -1): Promise<void> {
  for (const coupon of await findObjects<StoredCoupon>(turn, 'coupon', codes.map(idOf), true)) {
    await put(turn, idOf(coupon.code), { ...coupon, used: Math.max(0, coupon.used + by) })
  }
}

/** What a coupon takes off an amount, which it is never more than. */
export function couponOff({ type, value }: Pick<CouponSpec, 'type' | 'value'>, amount: bigint): bigint {
  if (type === 'free-shipping' || value === null) return 0n
  return lesser(amount, type === 'amount' ? toCents(value) : percentageOf(amount, Number(value)))
}

/** Lines less a discount, shared by what they cost. */
function lessened(items: PlatformOrderItem[], discount: bigint): PlatformOrderItem[] {
  const totals = items.map((item) => toCents(item.total))
  const shares = splitBy(discount, totals)
  return items.map((item, at) => ({ ...item, total: toMoney(totals[at]! - shares[at]!) }))
}
