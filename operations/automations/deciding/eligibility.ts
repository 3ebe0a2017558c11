/** Whether a message of a type may be sent for an order or cart (rule 1). No database, no clock. */
import { kinds } from '../kinds.ts'
import { type AutomationType, automationTypes } from '../types.ts'
import { type CartFacts, type CartState, isCancelled, type OrderFacts } from './facts.ts'

/** Types triggered by an order. */
export const orderTypes = automationTypes.filter((type) => kinds[type].entityType === 'order')

/** Whether a message of this type fits the order's state. `cashback` is the amount of the order's cashback coupon. */
export function isOrderEligible(
  type: AutomationType,
  order: Pick<OrderFacts, 'status' | 'payment_status'>,
  cashback: number,
): boolean {
  switch (type) {
    case 'order-cancelled':
      return isCancelled(order)
    case 'payment-reminder':
      return !isCancelled(order) && order.payment_status === 'pending'
    case 'post-purchase':
    case 'review-request':
      return !isCancelled(order) && order.payment_status !== 'refunded'
    case 'cashback':
      return !isCancelled(order) && order.payment_status !== 'refunded' && cashback > 0
    default:
      return !isCancelled(order)
  }
}

/** Why an order no longer suits a message that a member would send by hand, as a sentence; null if it does. */
export function describeMisfit(
  type: AutomationType,
  order: Pick<OrderFacts, 'number' | 'status' | 'payment_status'>,
): string | null {
  // Whether the order's cashback is more than nothing only shows when the coupon is made.
  if (isOrderEligible(type, order, 1)) return null
  const { number, payment_status: payment } = order
  if (type === 'order-cancelled') return `Order ${number} is not cancelled`
  if (isCancelled(order)) return `Order ${number} was cancelled`
  if (payment === 'paid') return `Order ${number} is paid already`
  return `Order ${number} ${payment === 'refunded' ? 'was refunded' : `has the payment status ${payment}`}`
}

/** Whether a cart was neither ordered nor emptied, and at least one of its products is still on sale. */
export const isCartEligible = (
  cart: Pick<CartFacts, 'order_id' | 'items' | 'total'> & Partial<Pick<CartState, 'has_products'>>,
): boolean =>
  cart.order_id === null && cart.items.length > 0 && Number(cart.total) > 0 && cart.has_products !== false
