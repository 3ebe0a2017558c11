/** Creates coupons as Shopify discount codes, which are unique and case-insensitive. */

import type { Clock } from '#runtime/clock'
import { Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { hundredths } from '#runtime/values/money'
import type { CouponSpec, CouponTerms } from '../port.ts'
import { requireNoErrors, type UserError } from './http/answers.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId } from './http/ids.ts'

const minimum = `minimumRequirement {
  __typename ... on DiscountMinimumSubtotal { greaterThanOrEqualToSubtotal { amount } }
}`
const findDocument = `query CouponByCode($code: String!) {
  codeDiscountNodeByCode(code: $code) {
    id
    codeDiscount {
      __typename
      ... on DiscountCodeBasic {
        endsAt usageLimit ${minimum}
        customerGets {
          items { __typename }
          value { __typename ... on DiscountPercentage { percentage } ... on DiscountAmount { amount { amount } } }
        }
      }
      ... on DiscountCodeFreeShipping { endsAt usageLimit ${minimum} }
    }
  }
}`

interface CouponNode {
  id: string
  codeDiscount: {
    __typename: string
    endsAt?: string | null
    usageLimit?: number | null
    minimumRequirement?: { __typename: string; greaterThanOrEqualToSubtotal?: { amount: string } } | null
    customerGets?: {
      items: { __typename: string }
      value: { __typename: string; percentage?: number; amount?: { amount: string } }
    }
  }
}

/** Returns null for a discount that our coupons cannot express, such as one with a minimum quantity. */
function toTerms({ codeDiscount: found }: CouponNode): CouponTerms | null {
  const { minimumRequirement: least } = found
  if (least && least.__typename !== 'DiscountMinimumSubtotal') return null
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
  const gets = found.customerGets
  if (gets?.items.__typename !== 'AllDiscountItems') return null
  const { percentage, amount } = gets.value
  if (percentage !== undefined) {
    // biome-ignore lint/plugin/cents: a percentage, not money
    return { ...common, type: 'percentage', value: (Math.round(percentage * 1e6) / 1e4).toFixed(2) }
  }
  return amount === undefined ? null : { ...common, type: 'amount', value: money(amount.amount) }
}

const money = (amount: string): string => hundredths.toMoney(hundredths.toCents(amount))

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

const deleteDocument = `mutation DeleteCoupon($id: ID!) {
  made: discountCodeDelete(id: $id) { deletedCodeDiscountId userErrors { field code message } }
}`

interface CreateAnswer {
  made: { codeDiscountNode: { id: string } | null; userErrors: UserError[] }
}

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
    const document = coupon.type === 'free-shipping' ? shippingDocument : basicDocument
    const { made } = await client.graph<CreateAnswer>(store, document, {
      coupon: buildCouponInput(coupon, clock.now()),
    })
    if (made.codeDiscountNode) {
      const { code: _code, ...terms } = coupon
      return { id: plainId(made.codeDiscountNode.id), terms }
    }
    // `TAKEN`: another call created the code concurrently.
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

async function findNode(
  client: ShopifyClient,
  store: ProviderStore,
  code: string,
): Promise<CouponNode | null> {
  const { codeDiscountNodeByCode: known } = await client.graph<{
    codeDiscountNodeByCode: CouponNode | null
  }>(store, findDocument, { code })
  return known
}

export async function revokeCoupon(client: ShopifyClient, store: ProviderStore, code: string): Promise<void> {
  const known = await findNode(client, store, code)
  if (!known) return
  const { made } = await client.graph<{ made: { userErrors: UserError[] } }>(store, deleteDocument, {
    id: known.id,
  })
  // A concurrent call may have deleted it.
  if (made.userErrors.length > 0 && (await findNode(client, store, code))) requireNoErrors(made.userErrors)
}

/** Builds Shopify's input. A coupon combines with promotions that allow coupons, and with no other coupon. */
function buildCouponInput(coupon: CouponSpec, now: Date) {
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
