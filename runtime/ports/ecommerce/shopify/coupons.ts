/** Coupons: discount codes, which Shopify keeps unique in any case of letters. */
import type { Clock } from '../../../clock.ts'
import { Unavailable } from '../../errors.ts'
import type { ProviderStore } from '../../provider.ts'
import type { CouponSpec } from '../port.ts'
import { requireNoErrors, type UserError } from './answers.ts'
import type { ShopifyClient } from './client.ts'
import { plainId } from './ids.ts'

const findDocument = `query CouponByCode($code: String!) { codeDiscountNodeByCode(code: $code) { id } }`

const basicDocument = `mutation CreateCoupon($coupon: DiscountCodeBasicInput!) {
  made: discountCodeBasicCreate(basicCodeDiscount: $coupon) {
    codeDiscountNode { id }
    userErrors { field code message }
  }
}`
const shippingDocument = `mutation CreateShippingCoupon($coupon: DiscountCodeFreeShippingInput!) {
  made: discountCodeFreeShippingCreate(freeShippingCodeDiscount: $coupon) {
    codeDiscountNode { id }
    userErrors { field code message }
  }
}`

interface Made {
  made: { codeDiscountNode: { id: string } | null; userErrors: UserError[] }
}

/** A code that exists is left as it is, also one that an unanswered call of before has made. */
export async function ensureCoupon(
  client: ShopifyClient,
  store: ProviderStore,
  coupon: CouponSpec,
  clock: Clock,
): Promise<{ id: string }> {
  const find = async () => {
    const { codeDiscountNodeByCode: known } = await client.graph<{
      codeDiscountNodeByCode: { id: string } | null
    }>(store, findDocument, { code: coupon.code })
    return known && { id: plainId(known.id) }
  }
  const known = await find()
  if (known) return known
  try {
    const document = coupon.type === 'free-shipping' ? shippingDocument : basicDocument
    const { made } = await client.graph<Made>(store, document, { coupon: couponInput(coupon, clock.now()) })
    if (made.codeDiscountNode) return { id: plainId(made.codeDiscountNode.id) }
    // Somebody was faster.
    const other = made.userErrors.some(({ code }) => code === 'TAKEN') ? await find() : null
    if (other) return other
    requireNoErrors(made.userErrors)
    throw new Unavailable('unknown', 'Shopify did not say whether it made the coupon')
  } catch (error) {
    if (!(error instanceof Unavailable) || error.accepted === 'no') throw error
    const late = await find()
    if (late) return late
    throw error
  }
}

/** Pure. A coupon goes with promotions that take coupons, and with no other coupon. */
export function couponInput(coupon: CouponSpec, now: Date) {
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
