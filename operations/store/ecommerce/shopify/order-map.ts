/** Shopify's orders as ours: pure. Amounts are those in the shop's own currency. */
import { notNegative, toCents, toMoney, unitsLess } from '#runtime/values/money'
import type { PlatformOrder, PlatformOrderItem } from '../port.ts'
import { nameOf } from './customers.ts'
import { instantOf, instantOrNull } from './http/ids.ts'

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

/** Of the lists and sums any may be kept from an app, and one order that tells less must not hold up all others. */
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
  /** With what was added since it was placed, and without what was taken off. */
  total_price: string
  /** After edits, returns and refunds. */
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

/** What REST does not say of an order. */
export interface OrderFacts {
  transactions: { kind: string; status: string; processedAt: string | null }[]
  fulfillments: { deliveredAt: string | null }[]
  paymentCollectionDetails: { additionalPaymentCollectionUrl: string | null } | null
  /** In the shop's currency; a transaction has the amount in that which was paid with. */
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

/** The parameter of an alert's link, which the shopper's first address or the cart's attributes carry on. */
const clickParameter = 'mk'

export function orderOf(order: RestOrder, facts: OrderFacts): PlatformOrder {
  const shipping = toCents(order.total_shipping_price_set?.shop_money?.amount ?? '0')
  const paymentStatus = paymentStatuses[order.financial_status ?? 'pending'] ?? 'pending'
  const sent = listOf(order.fulfillments).filter(({ status }) => status === 'success')
  const refunded = toCents(facts.totalRefundedSet.shopMoney.amount)
  const fulfillmentStatus = fulfillmentStatusOf(order, sent)
  const tracked = sent.find(({ tracking_number }) => tracking_number)
  return {
    id: String(order.id),
    number: numberOf(order.name ?? String(order.id)),
    status: order.cancelled_at ? 'cancelled' : order.closed_at ? 'closed' : 'open',
    paymentStatus,
    fulfillmentStatus,
    currency: order.currency,
    subtotal: money(order.total_line_items_price),
    discount: money(order.total_discounts),
    shipping: toMoney(shipping),
    total: toMoney(totalOf(order, refunded)),
    refundedTotal: toMoney(refunded),
    couponCodes: listOf(order.discount_codes).map(({ code }) => code),
    customer: customerOf(order),
    items: listOf(order.line_items).map((item) => itemOf(item, order)),
    paymentMethod: listOf(order.payment_gateway_names)[0] ?? null,
    paymentUrl:
      paymentStatus === 'pending'
        ? (facts.paymentCollectionDetails?.additionalPaymentCollectionUrl ?? null)
        : null,
    statusUrl: order.order_status_url ?? null,
    cartId: order.checkout_id ? String(order.checkout_id) : null,
    trackingCode: tracked?.tracking_number ?? null,
    trackingUrl: tracked?.tracking_url ?? null,
    shippingAddress: (order.shipping_address ?? null) as Record<string, unknown> | null,
    clickToken: clickTokenOf(order),
    placedAt: instantOf(order.processed_at ?? order.created_at),
    paidAt: paidAtOf(paymentStatus, facts),
    shippedAt: instantOrNull(sent.map(({ created_at }) => created_at).sort()[0]),
    deliveredAt: fulfillmentStatus === 'delivered' ? deliveredAtOf(sent, facts) : null,
    cancelledAt: instantOrNull(order.cancelled_at),
    updatedAt: instantOf(order.updated_at),
  }
}

const listOf = <T>(given: readonly T[] | null | undefined): readonly T[] => given ?? []
const money = (amount: string | null | undefined) => toMoney(toCents(amount ?? '0'))

/**
 * What an edit took off and nobody gives money back for was never to be paid; what is given back is told apart. What an
 * edit put on is to be paid as well.
 */
function totalOf(
  { total_price, current_total_price: current, cancelled_at }: RestOrder,
  refunded: bigint,
): bigint {
  const total = toCents(total_price ?? '0')
  // Of an order that was cancelled nothing is left: what it came to is what it was.
  if (!current || cancelled_at) return total
  const takenOff = total - toCents(current)
  return takenOff < 0n ? total - takenOff : total - notNegative(takenOff - refunded)
}

/** `#1001` as `1001`. */
export const numberOf = (name: string): string => name.replace(/^#/, '')

function fulfillmentStatusOf(
  { fulfillment_status: status }: RestOrder,
  sent: readonly Fulfillment[],
): PlatformOrder['fulfillmentStatus'] {
  if (status === 'partial') return 'partial'
  if (status !== 'fulfilled') return 'unfulfilled'
  const isDelivered = sent.length > 0 && sent.every((each) => each.shipment_status === 'delivered')
  return isDelivered ? 'delivered' : 'shipped'
}

/** When the last parcel arrived. */
function deliveredAtOf(sent: readonly Fulfillment[], facts: OrderFacts): string | null {
  const told = facts.fulfillments.flatMap(({ deliveredAt }) => deliveredAt ?? [])
  const instants = told.length > 0 ? told : sent.map(({ updated_at }) => updated_at)
  return instantOrNull(instants.sort().at(-1))
}

function paidAtOf(status: PlatformOrder['paymentStatus'], facts: OrderFacts): string | null {
  if (status === 'pending' || status === 'voided') return null
  const paid = facts.transactions.filter(
    (each) => ['SALE', 'CAPTURE'].includes(each.kind) && each.status === 'SUCCESS',
  )
  return instantOrNull(
    paid
      .flatMap(({ processedAt }) => processedAt ?? [])
      .sort()
      .at(-1),
  )
}

function customerOf(order: RestOrder): PlatformOrder['customer'] {
  const { customer, billing_address: billing, shipping_address: shipping } = order
  return {
    id: customer?.id === undefined ? null : String(customer.id),
    name: nameOf(customer) ?? nameOf(billing) ?? nameOf(shipping),
    email: order.email || customer?.email || null,
    phone: order.phone || customer?.phone || shipping?.phone || billing?.phone || null,
  }
}

function itemOf(item: RestLineItem, { refunds, taxes_included }: RestOrder): PlatformOrderItem {
  const back = listOf(refunds)
    .flatMap(({ refund_line_items }) => listOf(refund_line_items))
    .filter(({ line_item_id }) => line_item_id === item.id)
  const cents = back.reduce(
    (sum, { subtotal, total_tax }) =>
      sum + toCents(Number(subtotal ?? 0)) + (taxes_included ? 0n : toCents(Number(total_tax ?? 0))),
    0n,
  )
  return {
    ...lineOf(item),
    refundedQuantity: back.reduce((sum, { quantity }) => sum + quantity, 0),
    refundedTotal: toMoney(cents),
  }
}

/** A line of an order or a cart, nothing given back. Shopify tells no picture of it. */
export function lineOf(item: RestLineItem): PlatformOrderItem {
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
    unitPrice: toMoney(unitCents(price, quantity)),
    total: toMoney(unitsLess(price, quantity, off)),
    refundedQuantity: 0,
    refundedTotal: '0.00',
  }
}

/** A price of three decimals to the cent: rounded up only where units do not come to more than their line by it. */
function unitCents(price: string, quantity: number): bigint {
  const cents = toCents(price)
  return cents * BigInt(quantity) > unitsLess(price, quantity, []) ? cents - 1n : cents
}

function clickTokenOf({ note_attributes, landing_site }: RestOrder): string | null {
  const noted = listOf(note_attributes).find(({ name }) => name === clickParameter)?.value
  if (noted) return noted
  // Without its host; one that is no address has no token either.
  const url = landing_site ? URL.parse(landing_site, 'https://shop.invalid') : null
  return url?.searchParams.get(clickParameter) || null
}
