/** Maps Shopify's orders to orders of the port. Amounts are in the shop's own currency. */
import { atLeastZero, inCurrency, sumCents } from '#runtime/values/money'
import type { PlatformOrder, PlatformOrderItem } from '../port.ts'
import { fullName } from './customers.ts'
import type { OrderContentFragment, OrderLinesFragment, RefundsQuery } from './documents/documents.ts'
import { plainId, toInstant, toInstantOrNull } from './http/ids.ts'

export type OrderLine = OrderLinesFragment['nodes'][number]
export type RefundLine = NonNullable<
  RefundsQuery['order']
>['refunds'][number]['refundLineItems']['nodes'][number]
type Fulfillment = OrderContentFragment['fulfillments'][number]

/** The parts of an order that are read by further queries. */
export interface OrderFacts {
  /** All lines. */
  lines: readonly OrderLine[]
  /** The lines of all refunds; empty if no unit was refunded or removed. */
  refundLines: readonly RefundLine[]
  /** The cart that became this order, if it is known. */
  cartId: string | null
}

const paymentStatuses: Record<
  NonNullable<OrderContentFragment['displayFinancialStatus']>,
  PlatformOrder['paymentStatus']
> = {
  PENDING: 'pending',
  AUTHORIZED: 'pending',
  PARTIALLY_PAID: 'pending',
  PAID: 'paid',
  PARTIALLY_REFUNDED: 'partially-refunded',
  REFUNDED: 'refunded',
  VOIDED: 'voided',
  EXPIRED: 'voided',
}

/** The URL parameter with the click token of a message's link. It is in the landing page's URL or the cart's attributes. */
const clickParameter = 'mk'

type MoneyBag = { shopMoney: { amount: string } } | null | undefined

/** Shopify may withhold fields from an app, which are then null, even those that its schema calls non-null. */
const amountOf = (bag: MoneyBag): string => bag?.shopMoney?.amount ?? '0'

export function toOrder(order: OrderContentFragment, facts: OrderFacts): PlatformOrder {
  const { toCents, toMoney, priceAfterDiscounts } = inCurrency(order.currencyCode)
  const money = (bag: MoneyBag): string => toMoney(toCents(amountOf(bag)))
  const paymentStatus = paymentStatuses[order.displayFinancialStatus ?? 'PENDING'] ?? 'pending'
  const sent = orEmpty(order.fulfillments).filter(({ status }) => status === 'SUCCESS')
  const fulfillmentStatus = findFulfillmentStatus(order, sent)
  const tracked = sent.flatMap(({ trackingInfo }) => orEmpty(trackingInfo)).find(({ number }) => number)
  const originals = facts.lines.map((line) =>
    priceAfterDiscounts(amountOf(line.originalUnitPriceSet), line.quantity ?? 0, []),
  )
  return {
    id: plainId(order.id),
    number: parseNumber(order.name ?? plainId(order.id)),
    status: order.cancelledAt ? 'cancelled' : order.closedAt ? 'closed' : 'open',
    paymentStatus,
    fulfillmentStatus,
    currency: order.currencyCode,
    subtotal: toMoney(sumCents(originals)),
    discount: money(order.totalDiscountsSet),
    shipping: money(order.totalShippingPriceSet),
    total: toMoney(computeTotal(order)),
    refundedTotal: money(order.totalRefundedSet),
    couponCodes: [...orEmpty(order.discountCodes)],
    customer: toCustomer(order),
    items: facts.lines.map((line) => toItem(line, facts.refundLines, order)),
    paymentMethod: orEmpty(order.paymentGatewayNames)[0] ?? null,
    paymentUrl:
      paymentStatus === 'pending'
        ? (order.paymentCollectionDetails?.additionalPaymentCollectionUrl ?? null)
        : null,
    statusUrl: order.statusPageUrl ?? null,
    cartId: facts.cartId,
    trackingCode: tracked?.number ?? null,
    trackingUrl: tracked?.url ?? null,
    shippingAddress: toAddress(order.shippingAddress),
    clickToken: findClickToken(order),
    placedAt: toInstant(order.processedAt ?? order.createdAt),
    paidAt: findPaidAt(paymentStatus, order),
    shippedAt: toInstantOrNull(sent.map(({ createdAt }) => createdAt).sort()[0]),
    deliveredAt: fulfillmentStatus === 'delivered' ? findDeliveredAt(sent) : null,
    cancelledAt: toInstantOrNull(order.cancelledAt),
    updatedAt: toInstant(order.updatedAt),
  }
}

const orEmpty = <T>(given: readonly T[] | null | undefined): readonly T[] => given ?? []

/**
 * The total of an order, including items that edits added, without items that edits removed before they were paid. Refunds
 * are not subtracted: they are reported separately.
 */
function computeTotal(order: OrderContentFragment): bigint {
  const { toCents } = inCurrency(order.currencyCode)
  const total = toCents(amountOf(order.totalPriceSet))
  // The current total of a cancelled order is 0, so the original total is used.
  if (!order.currentTotalPriceSet || order.cancelledAt) return total
  const takenOff = total - toCents(amountOf(order.currentTotalPriceSet))
  const refunded = toCents(amountOf(order.totalRefundedSet))
  return takenOff < 0n ? total - takenOff : total - atLeastZero(takenOff - refunded)
}

/** Turns `#1001` into `1001`. */
export const parseNumber = (name: string): string => name.replace(/^#/, '')

function findFulfillmentStatus(
  { displayFulfillmentStatus: status }: OrderContentFragment,
  sent: readonly Fulfillment[],
): PlatformOrder['fulfillmentStatus'] {
  if (status === 'FULFILLED') {
    const isDelivered = sent.length > 0 && sent.every((each) => each.displayStatus === 'DELIVERED')
    return isDelivered ? 'delivered' : 'shipped'
  }
  if (status === 'PARTIALLY_FULFILLED') return 'partial'
  // If the rest of the order is on hold, scheduled or in progress, the status hides that a part was sent.
  return sent.length > 0 && status !== 'UNFULFILLED' && status !== 'RESTOCKED' ? 'partial' : 'unfulfilled'
}

/** When the last parcel was delivered. */
function findDeliveredAt(sent: readonly Fulfillment[]): string | null {
  const delivered = sent.flatMap(({ deliveredAt }) => deliveredAt ?? [])
  const instants = delivered.length > 0 ? delivered : sent.map(({ updatedAt }) => updatedAt)
  return toInstantOrNull(instants.sort().at(-1))
}

function findPaidAt(
  status: PlatformOrder['paymentStatus'],
  { transactions }: OrderContentFragment,
): string | null {
  if (status === 'pending' || status === 'voided') return null
  const paid = orEmpty(transactions).filter(
    (each) => (each.kind === 'SALE' || each.kind === 'CAPTURE') && each.status === 'SUCCESS',
  )
  return toInstantOrNull(
    paid
      .flatMap(({ processedAt }) => processedAt ?? [])
      .sort()
      .at(-1),
  )
}

function toCustomer(order: OrderContentFragment): PlatformOrder['customer'] {
  const { customer, billingAddress: billing, shippingAddress: shipping } = order
  const phone = customer?.defaultPhoneNumber?.phoneNumber
  return {
    id: customer ? plainId(customer.id) : null,
    name: fullName(customer) ?? fullName(billing) ?? fullName(shipping),
    email: order.email || customer?.defaultEmailAddress?.emailAddress || null,
    phone: order.phone || phone || shipping?.phone || billing?.phone || null,
  }
}

/** The address with the names that orders of this platform have always had. */
function toAddress(address: OrderContentFragment['shippingAddress']): Record<string, unknown> | null {
  if (!address) return null
  return {
    first_name: address.firstName,
    address1: address.address1,
    phone: address.phone,
    city: address.city,
    zip: address.zip,
    province: address.province,
    country: address.country,
    last_name: address.lastName,
    address2: address.address2,
    company: address.company,
    latitude: address.latitude,
    longitude: address.longitude,
    name: address.name,
    country_code: address.countryCodeV2,
    province_code: address.provinceCode,
  }
}

function toItem(
  line: OrderLine,
  refundLines: readonly RefundLine[],
  { taxesIncluded, currencyCode: currency }: OrderContentFragment,
): PlatformOrderItem {
  const { toCents, toMoney } = inCurrency(currency)
  const back = refundLines.filter(({ lineItem }) => lineItem?.id === line.id)
  const cents = back.map(
    ({ subtotalSet, totalTaxSet }) =>
      toCents(amountOf(subtotalSet)) + (taxesIncluded ? 0n : toCents(amountOf(totalTaxSet))),
  )
  return {
    ...toLine(line, currency, orEmpty(line.discountAllocations).map(getAllocated)),
    refundedQuantity: back.reduce((sum, { quantity }) => sum + (quantity ?? 0), 0),
    refundedTotal: toMoney(sumCents(cents)),
  }
}

const getAllocated = ({ allocatedAmountSet }: OrderLine['discountAllocations'][number]): string =>
  amountOf(allocatedAmountSet)

type Line = Pick<
  OrderLine,
  'id' | 'product' | 'variant' | 'sku' | 'image' | 'quantity' | 'originalUnitPriceSet'
> & { title: string | null }

/** Maps a line of an order or a cart, without refunds. `off`: the discounts on the whole line. */
export function toLine(line: Line, currency: string, off: readonly string[]): PlatformOrderItem {
  const { toMoney, priceAfterDiscounts } = inCurrency(currency)
  const quantity = line.quantity ?? 0
  const price = amountOf(line.originalUnitPriceSet)
  return {
    id: plainId(line.id),
    productId: line.product ? plainId(line.product.id) : null,
    variantId: line.variant ? plainId(line.variant.id) : null,
    name: line.title ?? '',
    sku: line.sku || null,
    imageUrl: line.image?.url ?? null,
    quantity,
    unitPrice: toMoney(unitCents(price, quantity, currency)),
    total: toMoney(priceAfterDiscounts(price, quantity, off)),
    refundedQuantity: 0,
    refundedTotal: '0.00',
  }
}

/** Rounds a price with three decimals to the cent. Rounds down if the rounded price would exceed the line's total. */
function unitCents(price: string, quantity: number, currency: string): bigint {
  const { toCents, priceAfterDiscounts } = inCurrency(currency)
  const cents = toCents(price)
  return cents * BigInt(quantity) > priceAfterDiscounts(price, quantity, []) ? cents - 1n : cents
}

function findClickToken({ customAttributes, customerJourneySummary }: OrderContentFragment): string | null {
  const noted = orEmpty(customAttributes).find(({ key }) => key === clickParameter)?.value
  if (noted) return noted
  const { lastVisit, firstVisit } = customerJourneySummary ?? {}
  for (const visit of [lastVisit, firstVisit]) {
    // A path without a host gets one. An invalid URL has no token.
    const url = visit?.landingPage ? URL.parse(visit.landingPage, 'https://shop.invalid') : null
    const token = url?.searchParams.get(clickParameter)
    if (token) return token
  }
  return null
}
