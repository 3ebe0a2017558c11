/** Coupons of the sandbox's shops: made through the port, taken off orders as a checkout would. */
import { Refused } from '../errors.ts'
import { toCents, toMoney } from './money.ts'
import type { CouponSpec, PlatformOrderItem } from './port.ts'
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
export function ensureCoupon(shop: Shop, coupon: CouponSpec): Promise<{ id: string }> {
  const id = idOf(coupon.code)
  if (id.startsWith('REFUSE')) {
    throw new Refused('coupon-refused', `The platform does not take the code ${coupon.code}`)
  }
  const value = coupon.value === null ? null : toCents(coupon.value)
  const isRight =
    coupon.type === 'free-shipping'
      ? value === null
      : value !== null && value > 0 && (coupon.type === 'amount' || value <= 100_00)
  if (id === '' || !isRight)
    throw new Refused('invalid-coupon', 'The coupon has no value that the platform takes')
  return inTurn(shop, async (turn) => {
    const [known] = await findObjects<StoredCoupon>(turn, 'coupon', [id])
    if (!known) await put(turn, id, { ...coupon, used: 0 })
    return { id }
  })
}

const put = (turn: Shop, id: string, data: StoredCoupon): Promise<void> =>
  putObjects(turn, 'coupon', [{ id, data, updatedAt: instantText(turn.clock.now()) }])

export interface Taken {
  /** As the shop writes it. */
  code: string
  items: PlatformOrderItem[]
  /** In cents. */
  discount: number
  shipping: number
}

/**
 * Takes a coupon off an order that is being placed: off its lines, each by its share to the cent, or its shipping
 * (in cents). A code that the shop does not know takes nothing off. Throws `Refused` where the coupon no longer holds,
 * or not for this order.
 */
export async function takeCoupon(
  turn: Shop,
  code: string,
  order: { items: PlatformOrderItem[]; shipping: number; placedAt: string },
): Promise<Taken> {
  const { items, shipping, placedAt } = order
  const id = idOf(code)
  const [coupon] = await findObjects<StoredCoupon>(turn, 'coupon', [id], true)
  if (!coupon) return { code: code.trim(), items, discount: 0, shipping }
  const subtotal = items.reduce((sum, item) => sum + toCents(item.total), 0)
  const refusal = (why: string) => new Refused('coupon-refused', `couponCode: ${coupon.code} ${why}`)
  if (coupon.endsAt !== null && Date.parse(placedAt) > Date.parse(coupon.endsAt)) throw refusal('has ended')
  if (coupon.usageLimit !== null && coupon.used >= coupon.usageLimit) throw refusal('is used up')
  if (coupon.minimumAmount !== null && subtotal < toCents(coupon.minimumAmount)) {
    throw refusal(`needs an order of ${coupon.minimumAmount} or more`)
  }
  await put(turn, id, { ...coupon, used: coupon.used + 1 })
  if (coupon.type === 'free-shipping') return { code: coupon.code, items, discount: 0, shipping: 0 }
  const value = toCents(coupon.value!)
  const discount = Math.min(
    subtotal,
    coupon.type === 'amount' ? value : Math.floor((subtotal * value + 50_00) / 100_00),
  )
  return { code: coupon.code, items: lessened(items, subtotal, discount), discount, shipping }
}

/** An order was cancelled (`by` −1) or opened again (1): its coupons may be used once more, or less. */
export async function countCoupons(turn: Shop, codes: readonly string[], by: 1 | -1): Promise<void> {
  for (const coupon of await findObjects<StoredCoupon>(turn, 'coupon', codes.map(idOf), true)) {
    await put(turn, idOf(coupon.code), { ...coupon, used: Math.max(0, coupon.used + by) })
  }
}

/** Lines less a discount, shared by what they cost; what rounding leaves goes to the largest remainders. */
function lessened(items: PlatformOrderItem[], subtotal: number, discount: number): PlatformOrderItem[] {
  if (subtotal === 0) return items
  const shares = items.map((item, index) => {
    const exact = toCents(item.total) * discount
    return { index, cents: Math.floor(exact / subtotal), rest: exact % subtotal }
  })
  let left = discount - shares.reduce((sum, share) => sum + share.cents, 0)
  for (const share of [...shares].sort((a, b) => b.rest - a.rest || a.index - b.index)) {
    if (left === 0) break
    share.cents += 1
    left -= 1
  }
  return items.map((item, index) => ({ ...item, total: toMoney(toCents(item.total) - shares[index]!.cents) }))
}
