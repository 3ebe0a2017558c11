/** Maps Shopify's orders to orders of the port. Amounts are in the shop's own currency. */
import { atLeastZero, inCurrency } from '#runtime/values/money'
import type { PlatformOrder, PlatformOrderItem } from '../port.ts'
import { fullName } from './customers.ts'
import { toInstant, toInstantOrNull } from './http/ids.ts'

export interface RestLineItem {
  id: number
  product_id: number | null
  variant_id: number | null
  title: string
  sku: string | null
  quantity: number
  price: string
  discount_allocations?: { amount: string }[]
}

interface Person {
  id?: number
  first_name?: string | null
  last_name?: string | null
  email?: string | null
  phone?: string | null
}

interface Fulfillment {
  status: string
  shipment_status: string | null
  tracking_number: string | null
  tracking_url: string | null
  created_at: string
  updated_at: string
}

/**
 * An order as REST returns it. Shopify may withhold any list or sum from an app, so any may be missing: one incomplete order
 * must not block all others.
 */
export interface RestOrder {
  id: number
  name: string
  test: boolean
  currency: string
  email: string | null
  phone: string | null
  customer: Person | null
  billing_address: Person | null
  shipping_address: (Person & Record<string, unknown>) | null
  line_items: RestLineItem[]
  total_line_items_price: string
  total_discounts: string
  total_shipping_price_set: { shop_money: { amount: string } } | null
  /** Includes items that edits added, and still includes items that edits removed. */
  total_price: string
  /** The total after edits, returns and refunds. */
  current_total_price?: string | null
  taxes_included: boolean
  discount_codes: { code: string }[]
  financial_status: string | null
  fulfillment_status: string | null
  fulfillments: Fulfillment[]
  refunds: RestRefund[]
  payment_gateway_names: string[]
  order_status_url: string | null
  checkout_id: number | null
  landing_site: string | null
  note_attributes: { name: string; value: string }[]
  created_at: string
  processed_at: string | null
  cancelled_at: string | null
  closed_at: string | null
  updated_at: string
}

interface RestRefund {
  refund_line_items: {
    line_item_id: number
    quantity: number
    subtotal: number | string
    total_tax: number | string
  }[]
}

/** Facts of an order that REST does not return. */
export interface OrderFacts {
  transactions: { kind: string; status: string; processedAt: string | null }[]
  fulfillments: { deliveredAt: string | null }[]
  paymentCollectionDetails: { additionalPaymentCollectionUrl: string | null } | null
  /** Used instead of the transactions, whose amounts are in the currency of the payment, not of the shop. */
  totalRefundedSet: { shopMoney: { amount: string } }
}

const paymentStatuses: Record<string, PlatformOrder['paymentStatus']> = {
  pending: 'pending',
  authorized: 'pending',
  partially_paid: 'pending',
  paid: 'paid',
  partially_refunded: 'partially-refunded',
  refunded: 'refunded',
  voided: 'voided',
  expired: 'voided',
}

/** The URL parameter with the click token of a message's link. It is in the landing page's URL or the cart's attributes. */
const clickParameter = 'mk'

export function toOrder(order: RestOrder, facts: OrderFacts): PlatformOrder {
  const { toCents, toMoney } = inCurrency(order.currency)
  const money = (amount: string | null | undefined): string => toMoney(toCents(amount ?? '0'))
  const shipping = toCents(order.total_shipping_price_set?.shop_money?.amount ?? '0')
  const paymentStatus = paymentStatuses[order.financial_status ?? 'pending'] ?? 'pending'
  const sent = orEmpty(order.fulfillments).filter(({ status }) => status === 'success')
  const refunded = toCents(facts.totalRefundedSet.shopMoney.amount)
  const fulfillmentStatus = findFulfillmentStatus(order, sent)
  const tracked = sent.find(({ tracking_number }) => tracking_number)
  return {
    id: String(order.id),
    number: parseNumber(order.name ?? String(order.id)),
    status: order.cancelled_at ? 'cancelled' : order.closed_at ? 'closed' : 'open',
    paymentStatus,
    fulfillmentStatus,
    currency: order.currency,
    subtotal: money(order.total_line_items_price),
    discount: money(order.total_discounts),
    shipping: toMoney(shipping),
    total: toMoney(computeTotal(order, refunded)),
    refundedTotal: toMoney(refunded),
    couponCodes: orEmpty(order.discount_codes).map(({ code }) => code),
    customer: toCustomer(order),
    items: orEmpty(order.line_items).map((item) => toItem(item, order)),
    paymentMethod: orEmpty(order.payment_gateway_names)[0] ?? null,
    paymentUrl:
      paymentStatus === 'pending'
        ? (facts.paymentCollectionDetails?.additionalPaymentCollectionUrl ?? null)
        : null,
    statusUrl: order.order_status_url ?? null,
    cartId: order.checkout_id ? String(order.checkout_id) : null,
    trackingCode: tracked?.tracking_number ?? null,
    trackingUrl: tracked?.tracking_url ?? null,
    shippingAddress: (order.shipping_address ?? null) as Record<string, unknown> | null,
    clickToken: findClickToken(order),
    placedAt: toInstant(order.processed_at ?? order.created_at),
    paidAt: findPaidAt(paymentStatus, facts),
    shippedAt: toInstantOrNull(sent.map(({ created_at }) => created_at).sort()[0]),
    deliveredAt: fulfillmentStatus === 'delivered' ? findDeliveredAt(sent, facts) : null,
    cancelledAt: toInstantOrNull(order.cancelled_at),
    updatedAt: toInstant(order.updated_at),
  }
}

const orEmpty = <T>(given: readonly T[] | null | undefined): readonly T[] => given ?? []

/**
 * The total of an order, including items that edits added, without items that edits removed before they were paid. Refunds
 * are not subtracted: they are reported separately.
 */
function computeTotal(
  { total_price, current_total_price: current, cancelled_at, currency }: RestOrder,
  refunded: bigint,
): bigint {
  const { toCents } = inCurrency(currency)
  const total = toCents(total_price ?? '0')
  // The current total of a cancelled order is 0, so the original total is used.
  if (!current || cancelled_at) return total
  const takenOff = total - toCents(current)
  return takenOff < 0n ? total - takenOff : total - atLeastZero(takenOff - refunded)
}

/** Turns `#1001` into `1001`. */
export const parseNumber = (name: string): string => name.replace(/^#/, '')

function findFulfillmentStatus(
  { fulfillment_status: status }: RestOrder,
  sent: readonly Fulfillment[],
): PlatformOrder['fulfillmentStatus'] {
  if (status === 'partial') return 'partial'
  if (status !== 'fulfilled') return 'unfulfilled'
  const isDelivered = sent.length > 0 && sent.every((each) => each.shipment_status === 'delivered')
  return isDelivered ? 'delivered' : 'shipped'
}

/** When the last parcel was delivered. */
function findDeliveredAt(sent: readonly Fulfillment[], facts: OrderFacts): string | null {
  const delivered = facts.fulfillments.flatMap(({ deliveredAt }) => deliveredAt ?? [])
  const instants = delivered.length > 0 ? delivered : sent.map(({ updated_at }) => updated_at)
  return toInstantOrNull(instants.sort().at(-1))
}

function findPaidAt(status: PlatformOrder['paymentStatus'], facts: OrderFacts): string | null {
  if (status === 'pending' || status === 'voided') return null
  const paid = facts.transactions.filter(
    (each) => ['SALE', 'CAPTURE'].includes(each.kind) && each.status === 'SUCCESS',
  )
  return toInstantOrNull(
    paid
      .flatMap(({ processedAt }) => processedAt ?? [])
      .sort()
      .at(-1),
  )
}

function toCustomer(order: RestOrder): PlatformOrder['customer'] {
  const { customer, billing_address: billing, shipping_address: shipping } = order
  return {
    id: customer?.id === undefined ? null : String(customer.id),
    name: fullName(customer) ?? fullName(billing) ?? fullName(shipping),
    email: order.email || customer?.email || null,
    phone: order.phone || customer?.phone || shipping?.phone || billing?.phone || null,
  }
}

function toItem(item: RestLineItem, { refunds, taxes_included, currency }: RestOrder): PlatformOrderItem {
  const { toCents, toMoney } = inCurrency(currency)
  const back = orEmpty(refunds)
    .flatMap(({ refund_line_items }) => orEmpty(refund_line_items))
    .filter(({ line_item_id }) => line_item_id === item.id)
  const cents = back.reduce(
    (sum, { subtotal, total_tax }) =>
      sum + toCents(Number(subtotal ?? 0)) + (taxes_included ? 0n : toCents(Number(total_tax ?? 0))),
    0n,
  )
  return {
    ...toLine(item, currency),
    refundedQuantity: back.reduce((sum, { quantity }) => sum + quantity, 0),
    refundedTotal: toMoney(cents),
  }
}

/** Maps a line of an order or a cart, without refunds. Shopify returns no image of a line. */
export function toLine(item: RestLineItem, currency: string): PlatformOrderItem {
  const { toMoney, priceAfterDiscounts } = inCurrency(currency)
  const quantity = item.quantity ?? 0
  const price = item.price ?? '0'
  const off = (item.discount_allocations ?? []).map(({ amount }) => amount)
  return {
    id: String(item.id),
    productId: item.product_id ? String(item.product_id) : null,
    variantId: item.variant_id ? String(item.variant_id) : null,
    name: item.title ?? '',
    sku: item.sku || null,
    imageUrl: null,
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

function findClickToken({ note_attributes, landing_site }: RestOrder): string | null {
  const noted = orEmpty(note_attributes).find(({ name }) => name === clickParameter)?.value
  if (noted) return noted
  // `landing_site` is a path without a host. An invalid URL has no token.
  const url = landing_site ? URL.parse(landing_site, 'https://shop.invalid') : null
  return url?.searchParams.get(clickParameter) || null
}
