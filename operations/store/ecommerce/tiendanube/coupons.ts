/** Creates coupons. Tiendanube's coupons end with a day of the shop's time zone, and their codes are unique. */
import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { addDays, localDay } from '#runtime/values/days'
import { hundredths, inCurrency } from '#runtime/values/money'
import { getFirstInstant } from '#runtime/values/wall-clock'
import type { CouponSpec, CouponTerms } from '../port.ts'
import type { TiendanubeClient } from './http/client.ts'
import type { ShopFacts } from './shop.ts'
import { toTimezone } from './timezones.ts'

export interface ApiCoupon {
  id: number
  code: string
  type: 'percentage' | 'absolute' | 'shipping'
  value: string | number | null
  valid: boolean
  max_uses: number | null
  start_date: string | null
  end_date: string | null
  min_price: string | number | null
  categories?: readonly unknown[] | null
  products?: readonly unknown[] | null
  first_consumer_purchase?: boolean
  only_cheapest_shipping?: boolean
  deleted_at?: string | null
}

const types = { percentage: 'percentage', amount: 'absolute', 'free-shipping': 'shipping' } as const

/** Idempotent: an existing code stays unchanged, even if an earlier call that got no response created it. */
export async function ensureCoupon(
  client: TiendanubeClient,
  store: ProviderStore,
  coupon: CouponSpec,
  shop: ShopFacts,
): Promise<{ id: string; terms: CouponTerms | null }> {
  const find = async () => {
    const known = await findCoupon(client, store, coupon.code)
    return known && { id: String(known.id), terms: toTerms(known, shop) }
  }
  const known = await find()
  if (known) return known
  try {
    const body = buildCoupon(coupon, shop)
    const made = await client.call<ApiCoupon>(store, { method: 'POST', path: 'coupons', body })
    return { id: String(made.id), terms: toTerms(made, shop) }
  } catch (error) {
    // Another call created the code concurrently, or this one did without a response.
    const mayBeThere =
      error instanceof Refused || (error instanceof Unavailable && error.accepted === 'unknown')
    const late = mayBeThere ? await find() : null
    if (late) return late
    throw error
  }
}

export async function revokeCoupon(
  client: TiendanubeClient,
  store: ProviderStore,
  code: string,
): Promise<void> {
  const known = await findCoupon(client, store, code)
  if (known) await client.find(store, { method: 'DELETE', path: `coupons/${known.id}` })
}

/** `q` may also find codes that only contain this one. */
async function findCoupon(
  client: TiendanubeClient,
  store: ProviderStore,
  code: string,
): Promise<ApiCoupon | null> {
  const all = await client.listAll<ApiCoupon>(store, { path: 'coupons', query: { q: code } })
  const wanted = code.toLowerCase()
  return all.find((each) => each.code.toLowerCase() === wanted && !each.deleted_at) ?? null
}

/** A coupon combines with promotions. */
function buildCoupon({ code, type, value, minimumAmount, usageLimit, endsAt }: CouponSpec, shop: ShopFacts) {
  return {
    code,
    type: types[type],
    ...(type === 'free-shipping' ? {} : { value }),
    valid: true,
    max_uses: usageLimit,
    min_price: minimumAmount === null ? null : Number(minimumAmount),
    end_date: endsAt === null ? null : toLastDay(endsAt, shop),
    includes_shipping: false,
    first_consumer_purchase: false,
    combines_with_other_discounts: true,
  }
}

/** The day at whose end the coupon ends: never before the promised instant. */
const toLastDay = (endsAt: string, { country }: ShopFacts): string =>
  localDay(new Date(Date.parse(endsAt) - 1), toTimezone(country))

/** Returns null for a coupon that ours cannot express, such as one for some products, and for one that is switched off. */
function toTerms(coupon: ApiCoupon, shop: ShopFacts): CouponTerms | null {
  const { toCents, toMoney } = inCurrency(shop.currency)
  const isNarrow =
    (coupon.categories ?? []).length > 0 ||
    (coupon.products ?? []).length > 0 ||
    coupon.first_consumer_purchase === true ||
    coupon.only_cheapest_shipping === true
  if (isNarrow || !coupon.valid) return null
  const { min_price: least, value, end_date: lastDay } = coupon
  const common = {
    minimumAmount: least === null || Number(least) === 0 ? null : toMoney(toCents(least)),
    usageLimit: coupon.max_uses,
    endsAt: lastDay === null ? null : toEnd(lastDay, shop),
  }
  if (coupon.type === 'shipping') return { ...common, type: 'free-shipping', value: null }
  if (value === null) return null
  return coupon.type === 'percentage'
    ? { ...common, type: 'percentage', value: hundredths.toMoney(hundredths.toCents(value)) }
    : { ...common, type: 'amount', value: toMoney(toCents(value)) }
}

/** The end of the coupon's last day. */
const toEnd = (lastDay: string, { country }: ShopFacts): string =>
  getFirstInstant(addDays(lastDay.slice(0, 10), 1), toTimezone(country)).toISOString()
