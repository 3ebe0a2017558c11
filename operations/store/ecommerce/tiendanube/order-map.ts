/** Maps Tiendanube's orders to orders of the port. Pure functions. */
import { atLeastZero, inCurrency, sumCents } from '#runtime/values/money'
import type { PlatformOrder, PlatformOrderItem } from '../port.ts'
import { toHttps, toInstant, toInstantOrNull } from './http/values.ts'

export interface ApiLine {
  id: number
  product_id: number | string | null
  variant_id: number | string | null
  name: string
  sku: string | null
  price: string
  quantity: number | string
  image?: { id: number; src: string } | null
}

/** A shipment. Only its id if Tiendanube was not asked for more. */
type ApiShipment =
  | string
  | {
      status: string
      shipping?: { consumer_cost?: { value: number | string } | null } | null
      tracking_info?: { url: string | null; code: string | null } | null
      fulfilled_at?: string | null
      status_history?: { to_status: string | null; happened_at: string }[]
    }

export interface ApiOrder {
  id: number
  number: number
  contact_name?: string | null
  contact_email?: string | null
  contact_phone?: string | null
  /** Only if the app may read customers. */
  customer?: { id: number; name: string | null; email: string | null; phone: string | null } | null
  products: ApiLine[]
  coupon: { code: string }[] | null
  subtotal: string
  discount: string
  total: string
  currency: string
  gateway_name?: string | null
  /** The customer's cost of shipping, in answers of before the shipments. */
  shipping_cost_customer?: string | null
  shipping_address: Record<string, unknown> | null
  shipping_status: string | null
  payment_status: string
  /** The documentation has both names. */
  fulfillments?: ApiShipment[]
  fulfillment_orders?: ApiShipment[]
  extra?: Record<string, unknown> | readonly unknown[] | null
  status: 'open' | 'closed' | 'cancelled'
  cancelled_at: string | null
  paid_at: string | null
  created_at: string
  updated_at: string
}

/** A change of the order's value: an edit or a refund. A negative `total_paid_diff` went back to the customer. */
export interface ApiValueChange {
  status: 'PENDING' | 'CANCELLED' | 'PAID'
  total_delta: number | string
  total_paid_diff: number | string
}

const paymentStatuses: Readonly<Record<string, PlatformOrder['paymentStatus']>> = {
  authorized: 'pending',
  pending: 'pending',
  partially_paid: 'pending',
  paid: 'paid',
  partially_refunded: 'partially-refunded',
  refunded: 'refunded',
  abandoned: 'voided',
  voided: 'voided',
}

/** `fulfilled` and `unfulfilled` are the words of before the shipments. */
const shippingStatuses: Readonly<Record<string, PlatformOrder['fulfillmentStatus']>> = {
  partially_fulfilled: 'partial',
  shipped: 'shipped',
  fulfilled: 'shipped',
  delivered: 'delivered',
}

/** The field of the cart's form with the click token of a message's link. */
const clickField = 'mk'

export const toPaymentStatus = (status: string): PlatformOrder['paymentStatus'] =>
  paymentStatuses[status] ?? 'pending'

/** Whether money went back, so that the history of the order's value must be read. */
export const hasRefund = ({ payment_status: status }: Pick<ApiOrder, 'payment_status'>): boolean =>
  status === 'partially_refunded' || status === 'refunded'

/** `history`: the changes of the order's value, if it has refunds. */
export function toOrder(order: ApiOrder, history: readonly ApiValueChange[] = []): PlatformOrder {
  const { toCents, toMoney } = inCurrency(order.currency)
  const paymentStatus = toPaymentStatus(order.payment_status)
  const { total, refunded } = computeTotals(order, history)
  const shipments = (order.fulfillments ?? order.fulfillment_orders ?? []).flatMap((each) =>
    typeof each === 'string' ? [] : [each],
  )
  const fulfillmentStatus = shippingStatuses[order.shipping_status ?? ''] ?? 'unfulfilled'
  const tracked = shipments.find(({ tracking_info: info }) => info?.code)?.tracking_info
  const sentAt = shipments.flatMap(({ fulfilled_at: at }) => at ?? []).sort()
  const deliveredAt = shipments
    .flatMap(({ status_history: changes = [] }) => changes)
    .flatMap(({ to_status: status, happened_at: at }) => (status === 'DELIVERED' ? [at] : []))
    .sort()
  return {
    id: String(order.id),
    number: String(order.number),
    status: order.status,
    paymentStatus,
    fulfillmentStatus,
    currency: order.currency,
    subtotal: toMoney(toCents(order.subtotal)),
    discount: toMoney(toCents(order.discount)),
    shipping: toMoney(computeShipping(order, shipments)),
    total: toMoney(total),
    refundedTotal: toMoney(refunded),
    couponCodes: (order.coupon ?? []).map(({ code }) => code),
    customer: {
      id: order.customer ? String(order.customer.id) : null,
      name: order.customer?.name || order.contact_name || null,
      email: order.contact_email || order.customer?.email || null,
      phone: order.contact_phone || order.customer?.phone || null,
    },
    items: order.products.map((line) => toLine(line, order.currency)),
    paymentMethod: order.gateway_name || null,
    paymentUrl: null,
    statusUrl: null,
    // A checkout keeps its id when it becomes an order.
    cartId: String(order.id),
    trackingCode: tracked?.code ?? null,
    trackingUrl: tracked?.url ?? null,
    shippingAddress: order.shipping_address,
    clickToken: findClickToken(order.extra),
    placedAt: placedAtOf(order),
    paidAt: paymentStatus === 'pending' || paymentStatus === 'voided' ? null : toInstantOrNull(order.paid_at),
    shippedAt: toInstantOrNull(sentAt[0]),
    deliveredAt:
      fulfillmentStatus === 'delivered' ? toInstantOrNull(deliveredAt.at(-1) ?? sentAt.at(-1)) : null,
    cancelledAt: toInstantOrNull(order.cancelled_at),
    updatedAt: toInstant(order.updated_at),
  }
}

/** When the order was placed. A draft of the merchant may have no time of its creation. */
export const placedAtOf = ({
  created_at: created,
  updated_at: updated,
}: Pick<ApiOrder, 'created_at' | 'updated_at'>): string => toInstantOrNull(created) ?? toInstant(updated)

/**
 * The total before refunds, and the refunded amount. Whether a refund lowers the order's `total` depends on how it was made:
 * the history says it. Without a history a fully refunded order was refunded in its total.
 */
export function computeTotals(
  order: Pick<ApiOrder, 'currency' | 'total' | 'payment_status'>,
  history: readonly ApiValueChange[],
): { total: bigint; refunded: bigint } {
  const { toCents } = inCurrency(order.currency)
  const amount = (value: number | string): bigint => toCents(typeof value === 'number' ? value : value.trim())
  const refunds = history.filter((each) => each.status === 'PAID' && amount(each.total_paid_diff) < 0n)
  const total = toCents(order.total)
  if (refunds.length === 0) {
    return { total, refunded: order.payment_status === 'refunded' ? total : 0n }
  }
  const refunded = -sumCents(refunds.map((each) => amount(each.total_paid_diff)))
  const lowered = -sumCents(refunds.map((each) => amount(each.total_delta)))
  return { total: total + atLeastZero(lowered), refunded }
}

function computeShipping(
  { currency, subtotal, discount, total, shipping_cost_customer: cost }: ApiOrder,
  shipments: readonly Exclude<ApiShipment, string>[],
): bigint {
  const { toCents } = inCurrency(currency)
  if (cost !== null && cost !== undefined) return toCents(cost)
  const costs = shipments.flatMap(({ shipping }) => shipping?.consumer_cost?.value ?? [])
  if (costs.length > 0) return sumCents(costs.map((each) => toCents(each)))
  return atLeastZero(toCents(total) - toCents(subtotal) + toCents(discount))
}

/** Maps a line of an order or a cart. Tiendanube says of no line what was refunded. */
export function toLine(line: ApiLine, currency: string): PlatformOrderItem {
  const { toCents, toMoney, priceAfterDiscounts } = inCurrency(currency)
  const quantity = Number(line.quantity)
  return {
    id: String(line.id),
    productId: line.product_id ? String(line.product_id) : null,
    variantId: line.variant_id ? String(line.variant_id) : null,
    name: line.name ?? '',
    sku: line.sku || null,
    // A line without a picture has one with the id 0, which shows that there is none.
    imageUrl: line.image?.id ? toHttps(line.image.src) : null,
    quantity,
    unitPrice: toMoney(toCents(line.price)),
    total: toMoney(priceAfterDiscounts(line.price, quantity, [])),
    refundedQuantity: 0,
    refundedTotal: toMoney(0n),
  }
}

function findClickToken(extra: ApiOrder['extra']): string | null {
  if (!extra || Array.isArray(extra)) return null
  const token = (extra as Record<string, unknown>)[clickField]
  return typeof token === 'string' && token !== '' ? token : null
}
