/** Creates coupons as Shopify discount codes, which are unique and case-insensitive. */

import type { Clock } from '#runtime/clock'
import { Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { hundredths } from '#runtime/values/money'
import type { CouponSpec, CouponTerms } from '../port.ts'
import {
  type CouponByCodeQuery,
  couponByCodeDocument,
  createCouponDocument,
  createShippingCouponDocument,
  type DiscountCodeBasicInput,
  deleteCouponDocument,
} from './documents/documents.ts'
import { requireNoErrors } from './http/answers.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId } from './http/ids.ts'

type CouponNode = NonNullable<CouponByCodeQuery['codeDiscountNodeByCode']>

/** Returns null for a discount that our coupons cannot express, such as one with a minimum quantity. */
function toTerms({ codeDiscount: found }: CouponNode): CouponTerms | null {
  if (!('usageLimit' in found)) return null
  const { minimumRequirement: least } = found
  if (least && !('greaterThanOrEqualToSubtotal' in least)) return null
  const common = {
    minimumAmount: least?.greaterThanOrEqualToSubtotal
      ? money(least.greaterThanOrEqualToSubtotal.amount)
      : null,
    usageLimit: found.usageLimit ?? null,
    endsAt: found.endsAt ? new Date(found.endsAt).toISOString() : null,
  }
  if (found.__typename === 'DiscountCodeFreeShipping') {
    return { ...common, type: 'free-shipping', value: null }
  }
  const { items, value } = found.customerGets
  if (items.__typename !== 'AllDiscountItems') return null
  if ('percentage' in value) {
    // biome-ignore lint/plugin/cents: a percentage, not money
    return { ...common, type: 'percentage', value: (Math.round(value.percentage * 1e6) / 1e4).toFixed(2) }
  }
  return 'amount' in value ? { ...common, type: 'amount', value: money(value.amount.amount) } : null
}

const money = (amount: string): string => hundredths.toMoney(hundredths.toCents(amount))

/** Idempotent: an existing code stays unchanged, even if an earlier call that got no response created it. */
export async function ensureCoupon(
  client: ShopifyClient,
  store: ProviderStore,
  coupon: CouponSpec,
  clock: Clock,
): Promise<{ id: string; terms: CouponTerms | null }> {
  const find = async () => {
    const known = await findNode(client, store, coupon.code)
    return known && { id: plainId(known.id), terms: toTerms(known) }
  }
  const known = await find()
  if (known) return known
  try {
    const document = coupon.type === 'free-shipping' ? createShippingCouponDocument : createCouponDocument
    const { made } = await client.graph(store, document, { coupon: buildCouponInput(coupon, clock.now()) })
    if (made?.codeDiscountNode) {
      const { code: _code, ...terms } = coupon
      return { id: plainId(made.codeDiscountNode.id), terms }
    }
    // `TAKEN`: another call created the code concurrently.
    const other = made?.userErrors.some(({ code }) => code === 'TAKEN') ? await find() : null
    if (other) return other
    requireNoErrors(made?.userErrors ?? [])
    throw new Unavailable('unknown', 'Shopify did not say whether it made the coupon')
  } catch (error) {
    if (!(error instanceof Unavailable) || error.accepted === 'no') throw error
    const late = await find()
    if (late) return late
    throw error
  }
}

async function findNode(
  client: ShopifyClient,
  store: ProviderStore,
  code: string,
): Promise<CouponNode | null> {
  return (await client.graph(store, couponByCodeDocument, { code })).codeDiscountNodeByCode
}

export async function revokeCoupon(client: ShopifyClient, store: ProviderStore, code: string): Promise<void> {
  const known = await findNode(client, store, code)
  if (!known) return
  const { made } = await client.graph(store, deleteCouponDocument, { id: known.id })
  const errors = made?.userErrors ?? []
  // A concurrent call may have deleted it.
  if (errors.length > 0 && (await findNode(client, store, code))) requireNoErrors(errors)
}

/** Builds Shopify's input. A coupon combines with promotions that allow coupons, and with no other coupon. */
function buildCouponInput(coupon: CouponSpec, now: Date): DiscountCodeBasicInput {
  const { code, type, value, minimumAmount, usageLimit, endsAt } = coupon
  return {
    title: code,
    code,
    startsAt: now.toISOString(),
    endsAt,
    usageLimit,
    appliesOncePerCustomer: false,
    context: { all: 'ALL' },
    combinesWith: { productDiscounts: true, orderDiscounts: false, shippingDiscounts: false },
    ...(minimumAmount === null
      ? {}
      : { minimumRequirement: { subtotal: { greaterThanOrEqualToSubtotal: minimumAmount } } }),
    ...(type === 'free-shipping'
      ? { destination: { all: true } }
      : {
          customerGets: {
            items: { all: true },
            value:
              type === 'percentage'
                ? { percentage: Number(value) / 100 }
                : { discountAmount: { amount: value, appliesOnEachItem: false } },
          },
        }),
  }
}
