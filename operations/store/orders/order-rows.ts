/** Maps a platform's order to rows of `orders` and `order_items`. Pure functions. */

import { trimVisible } from '#runtime/values/confusables'
import { cleanEmail } from '#runtime/values/email'
import { clampCount, inCurrency } from '#runtime/values/money'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import { plausibleInstant } from '#runtime/values/sanitize'
import type { PlatformOrder } from '../ecommerce/port.ts'

/** Builds the row of `orders`. `country`: the country of phones without a country code. An invalid phone becomes null. */
export function toOrderRow(order: PlatformOrder, country: string) {
  const { clampAmount } = inCurrency(order.currency)
  const phone = order.customer.phone && parsePhone(order.customer.phone, country)
  return {
    id: order.id,
    number: order.number,
    status: order.status,
    payment_status: findPaymentStatus(order),
    fulfillment_status: order.fulfillmentStatus,
    currency: order.currency,
    subtotal: clampAmount(order.subtotal),
    discount: clampAmount(order.discount),
    shipping: clampAmount(order.shipping),
    total: clampAmount(order.total),
    refunded_total: clampAmount(order.refundedTotal),
    coupon_codes: order.couponCodes,
    customer_id: order.customer.id,
    customer_name: trimVisible(order.customer.name),
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
} as const satisfies Record<keyof ReturnType<typeof toOrderRow>, string>

/** Computes the payment status from the refunded amount, because platforms label refunded orders differently. */
function findPaymentStatus(order: PlatformOrder): PlatformOrder['paymentStatus'] {
  if (order.paymentStatus !== 'paid' && order.paymentStatus !== 'partially-refunded')
    return order.paymentStatus
  const refunded = Number(order.refundedTotal)
  if (refunded <= 0) return 'paid'
  return refunded >= Number(order.total) ? 'refunded' : 'partially-refunded'
}

/** Builds the rows of `order_items`. */
export function toItemRows(order: PlatformOrder) {
  const { clampAmount } = inCurrency(order.currency)
  return order.items.map((item, index) => ({
    order_id: order.id,
    id: item.id,
    position: index + 1,
    product_id: item.productId,
    variant_id: item.variantId,
    name: item.name,
    sku: item.sku,
    image_url: item.imageUrl,
    quantity: clampCount(item.quantity),
    unit_price: clampAmount(item.unitPrice),
    total: clampAmount(item.total),
    refunded_quantity: clampCount(item.refundedQuantity),
    refunded_total: clampAmount(item.refundedTotal),
  }))
}

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
} as const satisfies Record<keyof ReturnType<typeof toItemRows>[number], string>
