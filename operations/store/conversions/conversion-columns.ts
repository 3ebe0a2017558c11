/** Builds the columns of a conversion from an order and its touch. Pure functions. */
import type { Row } from '#db/tables'
import { hundredths } from '#runtime/values/money'
import { spreadRefund } from './refunds.ts'

export type ConversionStatus = 'pending' | 'confirmed' | 'partially-refunded' | 'refunded' | 'cancelled'
type Order = Row<'orders'>
type Item = Row<'order_items'>

/** The columns that a conversion copies from its touch; they never change. */
export interface Source {
  touch_id: string | null
  source_type: string
  source_id: string
  source_name: string | null
  automation_type: string | null
  channel: string
  message_id: string | null
  touched_at: Date
  /** The code of a coupon that was issued for this touch only. */
  coupon_code: string | null
}

/**
 * The status of the conversion. A refunded conversion stays refunded if the order is cancelled later. A cancelled conversion
 * changes only if the order is reopened.
 */
function findStatus(
  order: Pick<Order, 'status' | 'payment_status'>,
  before: string | null,
): ConversionStatus {
  const isRefunded = order.payment_status === 'refunded'
  if (before === 'refunded' && isRefunded) return 'refunded'
  if (order.status === 'cancelled' || order.payment_status === 'voided') return 'cancelled'
  if (isRefunded) return 'refunded'
  if (order.payment_status === 'pending') return 'pending'
  return order.payment_status === 'partially-refunded' ? 'partially-refunded' : 'confirmed'
}

/** Builds the columns of `conversions`. `before`: the status of the stored conversion. */
export function buildConversion(order: Order, source: Source, before: string | null) {
  const status = findStatus(order, before)
  const brings = status !== 'refunded' && status !== 'cancelled'
  return {
    order_id: order.id,
    order_number: order.number,
    status,
    source_type: source.source_type,
    source_id: source.source_id,
    source_name: source.source_name,
    automation_type: source.automation_type,
    channel: source.channel,
    message_id: source.message_id,
    touch_id: source.touch_id,
    customer: {
      id: order.customer_id,
      name: order.customer_name,
      email: order.customer_email,
      phone: order.customer_phone,
    },
    currency: order.currency,
    order_total: order.total,
    refunded_total: order.refunded_total,
    revenue: brings ? subtract(order.total, order.refunded_total) : '0.00',
    coupon_code:
      order.coupon_codes.find((code) => isSame(code, source.coupon_code)) ?? order.coupon_codes[0] ?? null,
    touched_at: source.touched_at,
    placed_at: order.placed_at,
    paid_at: status === 'pending' ? null : order.paid_at,
  }
}

const subtract = (amount: string, less: string): string =>
  hundredths.toMoney(hundredths.toCents(amount) - hundredths.toCents(less))

const isSame = (code: string, other: string | null): boolean => code.toLowerCase() === other?.toLowerCase()

/** Builds the rows of `conversion_items`, each with its share of the refund. */
export function buildLines(order: Order, items: readonly Item[]) {
  const refunds = spreadRefund(
    items.map((item) => ({ total: item.total, refundedTotal: item.refunded_total })),
    order.refunded_total,
    order.currency,
  )
  return items.map((item, index) => ({
    position: item.position,
    product_id: item.product_id,
    variant_id: item.variant_id,
    name: item.name,
    sku: item.sku,
    image_url: item.image_url,
    quantity: item.quantity,
    refunded_quantity: item.refunded_quantity,
    unit_price: item.unit_price,
    total: item.total,
    refunded_total: refunds[index]!,
  }))
}

/** SQL types of the columns of `conversions`. */
export const conversionTypes = {
  id: 'uuid',
  order_id: 'text',
  order_number: 'text',
  status: 'text',
  source_type: 'text',
  source_id: 'text',
  source_name: 'text',
  automation_type: 'text',
  channel: 'text',
  message_id: 'text',
  touch_id: 'uuid',
  customer: 'jsonb',
  currency: 'text',
  order_total: 'numeric',
  refunded_total: 'numeric',
  revenue: 'numeric',
  coupon_code: 'text',
  touched_at: 'timestamptz',
  placed_at: 'timestamptz',
  paid_at: 'timestamptz',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const satisfies Record<
  keyof ReturnType<typeof buildConversion> | 'id' | 'created_at' | 'updated_at',
  string
>

export const lineTypes = {
  conversion_id: 'uuid',
  position: 'integer',
  product_id: 'text',
  variant_id: 'text',
  name: 'text',
  sku: 'text',
  image_url: 'text',
  quantity: 'integer',
  refunded_quantity: 'integer',
  unit_price: 'numeric',
  total: 'numeric',
  refunded_total: 'numeric',
} as const satisfies Record<keyof ReturnType<typeof buildLines>[number] | 'conversion_id', string>
