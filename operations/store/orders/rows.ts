/** A platform's order as rows of the mirror: pure. */

import { cleanEmail } from '#runtime/values/email'
import { keptAmount, keptCount } from '#runtime/values/money'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import { seen } from '#runtime/values/signs'
import { plausibleInstant } from '#runtime/values/storable'
import type { PlatformOrder } from '../ecommerce/port.ts'

/** The row of `orders`. `country`: where phones without a prefix are from; what is no phone is not kept. */
export function orderRow(order: PlatformOrder, country: string) {
  const phone = order.customer.phone && parsePhone(order.customer.phone, country)
  return {
    id: order.id,
    number: order.number,
    status: order.status,
    payment_status: paymentStatusOf(order),
    fulfillment_status: order.fulfillmentStatus,
    currency: order.currency,
    subtotal: keptAmount(order.subtotal),
    discount: keptAmount(order.discount),
    shipping: keptAmount(order.shipping),
    total: keptAmount(order.total),
    refunded_total: keptAmount(order.refundedTotal),
    coupon_codes: order.couponCodes,
    customer_id: order.customer.id,
    customer_name: seen(order.customer.name),
    customer_email: cleanEmail(order.customer.email ?? '') || null,
    customer_phone: phone || null,
    phone_key: phone ? phoneKey(phone) : null,
    payment_method: order.paymentMethod,
    payment_url: order.paymentUrl,
    status_url: order.statusUrl,
    cart_id: order.cartId,
    tracking_code: order.trackingCode,
    tracking_url: order.trackingUrl,
    shipping_address: order.shippingAddress,
    click_token: order.clickToken,
    placed_at: plausibleInstant(order.placedAt),
    paid_at: order.paidAt && plausibleInstant(order.paidAt),
    shipped_at: order.shippedAt && plausibleInstant(order.shippedAt),
    delivered_at: order.deliveredAt && plausibleInstant(order.deliveredAt),
    cancelled_at: order.cancelledAt && plausibleInstant(order.cancelledAt),
    updated_at: plausibleInstant(order.updatedAt),
  }
}

export const orderTypes = {
  id: 'text',
  number: 'text',
  status: 'text',
  payment_status: 'text',
  fulfillment_status: 'text',
  currency: 'text',
  subtotal: 'numeric',
  discount: 'numeric',
  shipping: 'numeric',
  total: 'numeric',
  refunded_total: 'numeric',
  coupon_codes: 'text[]',
  customer_id: 'text',
  customer_name: 'text',
  customer_email: 'text',
  customer_phone: 'text',
  phone_key: 'text',
  payment_method: 'text',
  payment_url: 'text',
  status_url: 'text',
  cart_id: 'text',
  tracking_code: 'text',
  tracking_url: 'text',
  shipping_address: 'jsonb',
  click_token: 'text',
  placed_at: 'timestamptz',
  paid_at: 'timestamptz',
  shipped_at: 'timestamptz',
  delivered_at: 'timestamptz',
  cancelled_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const satisfies Record<keyof ReturnType<typeof orderRow>, string>

/** Platforms differ in what they call an order with a refund: here the amounts decide, so that all figures agree. */
function paymentStatusOf(order: PlatformOrder): PlatformOrder['paymentStatus'] {
  if (order.paymentStatus !== 'paid' && order.paymentStatus !== 'partially-refunded')
    return order.paymentStatus
  const refunded = Number(order.refundedTotal)
  if (refunded <= 0) return 'paid'
  return refunded >= Number(order.total) ? 'refunded' : 'partially-refunded'
}

/** The rows of `order_items`. */
export const itemRows = (order: PlatformOrder) =>
  order.items.map((item, index) => ({
    order_id: order.id,
    id: item.id,
    position: index + 1,
    product_id: item.productId,
    variant_id: item.variantId,
    name: item.name,
    sku: item.sku,
    image_url: item.imageUrl,
    quantity: keptCount(item.quantity),
    unit_price: keptAmount(item.unitPrice),
    total: keptAmount(item.total),
    refunded_quantity: keptCount(item.refundedQuantity),
    refunded_total: keptAmount(item.refundedTotal),
  }))

export const itemTypes = {
  order_id: 'text',
  id: 'text',
  position: 'integer',
  product_id: 'text',
  variant_id: 'text',
  name: 'text',
  sku: 'text',
  image_url: 'text',
  quantity: 'integer',
  unit_price: 'numeric',
  total: 'numeric',
  refunded_quantity: 'integer',
  refunded_total: 'numeric',
} as const satisfies Record<keyof ReturnType<typeof itemRows>[number], string>
