/** Orders in the form that the platform sends. */

import type { PlatformOrder, PlatformOrderItem } from '#operations/store/ecommerce/port'
import type { ProductInput } from '#operations/store/ecommerce/sandbox-catalog'
import { dayMs, hourMs, minuteMs } from '#runtime/durations'
import type { PlannedOrder } from './order-plan.ts'
import { buildAddress } from './people.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** Converts cents to decimal text. */
const money = (cents: number): string => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
const cents = (amount: string): number => Math.round(Number(amount) * 100)

interface Shop {
  domain: string
  country: string
  products: ProductInput[]
  /** Id of the first order. */
  firstId: number
}

/** Orders in the order they were placed, with ids from `firstId` on. */
export function makeOrders(
  plans: readonly PlannedOrder[],
  shop: Shop,
  timeline: Timeline,
  random: Random,
): PlatformOrder[] {
  const sold = shop.products.filter((each) => each.isPublished)
  return plans.map((plan, index) =>
    makeOrder(plan, String(shop.firstId + index), { ...shop, products: sold }, timeline, random),
  )
}

function makeOrder(
  plan: PlannedOrder,
  id: string,
  shop: Shop,
  timeline: Timeline,
  random: Random,
): PlatformOrder {
  const { customer, state } = plan
  const items = makeItems(id, shop.products, plan.coupon !== null, random)
  const subtotal = items.reduce((sum, each) => sum + each.listed, 0)
  const charged = items.reduce((sum, each) => sum + each.charged, 0)
  const shipping = charged > 30_000 ? 0 : random.pick([1490, 1990, 2490])
  const paidItems = items.map(({ listed: _listed, charged: _charged, ...item }) => item)
  const refunded = refund(paidItems, state, shipping)
  const method = random.pick(['pix', 'pix', 'credit-card', 'credit-card', 'credit-card', 'boleto'])
  const isPaid = state !== 'pending' && state !== 'cancelled'
  const moves = planMoves(plan, method, isPaid, timeline, random)
  return {
    id,
    number: id,
    status:
      state === 'cancelled' ? 'cancelled' : moves.deliveredAt || state === 'refunded' ? 'closed' : 'open',
    paymentStatus: state === 'cancelled' ? 'voided' : state,
    fulfillmentStatus: moves.deliveredAt ? 'delivered' : moves.shippedAt ? 'shipped' : 'unfulfilled',
    currency: plan.currency,
    subtotal: money(subtotal),
    discount: money(subtotal - charged),
    shipping: money(shipping),
    total: money(charged + shipping),
    refundedTotal: money(refunded),
    couponCodes: plan.coupon ? [plan.coupon] : [],
    customer: { id: customer.id, name: customer.name, email: customer.email, phone: customer.phone },
    items: paidItems,
    paymentMethod: method,
    paymentUrl: state === 'pending' ? `https://${shop.domain}/pay/${id}` : null,
    statusUrl: `https://${shop.domain}/orders/${id}`,
    cartId: null,
    trackingCode: moves.shippedAt ? `AU${id}00BR` : null,
    trackingUrl: moves.shippedAt ? `https://${shop.domain}/track/AU${id}00BR` : null,
    shippingAddress: buildAddress(customer, shop.country),
    clickToken: null,
    ...moves,
  }
}

type Priced = PlatformOrderItem & { listed: number; charged: number }

/** One to three lines; a coupon takes a tenth off each. */
function makeItems(orderId: string, products: ProductInput[], hasCoupon: boolean, random: Random): Priced[] {
  const chosen = random.shuffled(products).slice(0, random.pick([1, 1, 2, 2, 3]))
  return chosen.map((product, index): Priced => {
    const variant = random.pick(product.variants)
    const quantity = random.pick([1, 1, 1, 2])
    const unit = Math.round(variant.price * 100)
    const listed = unit * quantity
    const charged = hasCoupon ? listed - Math.round(listed / 10) : listed
    return {
      id: `${orderId}-${index + 1}`,
      productId: product.id,
      variantId: variant.id,
      name: product.variants.length > 1 ? `${product.name} (${variant.name})` : product.name,
      sku: variant.sku ?? null,
      imageUrl: product.imageUrl ?? null,
      quantity,
      unitPrice: money(unit),
      total: money(charged),
      refundedQuantity: 0,
      refundedTotal: '0.00',
      listed,
      charged,
    }
  })
}

/** Refunds the first line, or half of a single one, or everything including shipping; returns the refunded cents. */
function refund(items: PlatformOrderItem[], state: PlannedOrder['state'], shipping: number): number {
  if (state === 'refunded') {
    for (const item of items) {
      item.refundedQuantity = item.quantity
      item.refundedTotal = item.total
    }
    return items.reduce((sum, each) => sum + cents(each.total), shipping)
  }
  if (state !== 'partially-refunded') return 0
  const first = items[0]!
  if (items.length > 1) {
    first.refundedQuantity = first.quantity
    first.refundedTotal = first.total
  } else first.refundedTotal = money(Math.round(cents(first.total) / 2))
  return cents(first.refundedTotal)
}

type Moves = Record<'placedAt' | 'updatedAt', string> &
  Record<'paidAt' | 'shippedAt' | 'deliveredAt' | 'cancelledAt', string | null>

/** Paid immediately or the next day, shipped within two days, delivered within nine. */
function planMoves(
  plan: PlannedOrder,
  method: string,
  isPaid: boolean,
  timeline: Timeline,
  random: Random,
): Moves {
  const placed = plan.placedAt.getTime()
  const now = timeline.now.getTime()
  const paid = Math.min(now, placed + (method === 'boleto' ? random.between(3, 22) * hourMs : 2 * minuteMs))
  const shipped = paid + random.between(0.5, 2) * dayMs
  const delivered = shipped + random.between(2, 7) * dayMs
  const cancelled = Math.min(now, placed + random.between(2, 40) * hourMs)
  const reached = (at: number): string | null => (isPaid && at <= now ? new Date(at).toISOString() : null)
  const moves = {
    placedAt: plan.placedAt.toISOString(),
    paidAt: reached(paid),
    shippedAt: reached(shipped),
    deliveredAt: reached(delivered),
    cancelledAt: plan.state === 'cancelled' ? new Date(cancelled).toISOString() : null,
  }
  const last = Object.values(moves).reduce<string>((latest, at) => (at && at > latest ? at : latest), '')
  return { ...moves, updatedAt: last }
}
