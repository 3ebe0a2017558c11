/** Orders, touches (messages and clicks) before them, and the conversions that result from both. */
import type { Generated } from 'kysely'
import type {
  DefaultNumeric,
  Instant,
  Json,
  NullableInstant,
  NullableJson,
  Numeric,
  StoreColumn,
} from './columns.ts'

interface OrdersRow {
  store_id: StoreColumn
  id: string
  number: string
  status: string
  payment_status: string
  fulfillment_status: string
  currency: string
  subtotal: Numeric
  discount: DefaultNumeric
  shipping: DefaultNumeric
  total: Numeric
  refunded_total: DefaultNumeric
  coupon_codes: Generated<string[]>
  customer_id: string | null
  customer_name: string | null
  customer_email: string | null
  customer_phone: string | null
  phone_key: string | null
  payment_method: string | null
  payment_url: string | null
  status_url: string | null
  cart_id: string | null
  tracking_code: string | null
  tracking_url: string | null
  shipping_address: NullableJson
  click_token: string | null
  placed_at: Instant
  paid_at: NullableInstant
  shipped_at: NullableInstant
  delivered_at: NullableInstant
  cancelled_at: NullableInstant
  updated_at: Instant
}

interface OrderItemsRow {
  store_id: StoreColumn
  order_id: string
  id: string
  position: number
  product_id: string | null
  variant_id: string | null
  name: string
  sku: string | null
  image_url: string | null
  quantity: number
  unit_price: Numeric
  total: Numeric
  refunded_quantity: Generated<number>
  refunded_total: DefaultNumeric
}

interface AttributionTouchesRow {
  store_id: StoreColumn
  id: string
  source_type: string
  source_id: string
  source_name: string | null
  automation_type: string | null
  channel: string
  message_id: string | null
  phone_key: string | null
  email: string | null
  coupon_code: string | null
  click_token: string | null
  product_id: string | null
  touched_at: Instant
  voided_at: NullableInstant
  /** The number of the touch's conversions that currently count. */
  conversions: Generated<number>
}

interface ConversionsRow {
  store_id: StoreColumn
  id: string
  order_id: string
  order_number: string
  status: string
  source_type: string
  source_id: string
  source_name: string | null
  automation_type: string | null
  channel: string
  message_id: string | null
  touch_id: string | null
  customer: Json
  currency: string
  order_total: Numeric
  refunded_total: Numeric
  revenue: Numeric
  coupon_code: string | null
  touched_at: Instant
  placed_at: Instant
  paid_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface ConversionItemsRow {
  store_id: StoreColumn
  conversion_id: string
  position: number
  product_id: string | null
  variant_id: string | null
  name: string
  sku: string | null
  image_url: string | null
  quantity: number
  refunded_quantity: Generated<number>
  unit_price: Numeric
  total: Numeric
  refunded_total: DefaultNumeric
}

export interface OrderTables {
  orders: OrdersRow
  order_items: OrderItemsRow
  attribution_touches: AttributionTouchesRow
  conversions: ConversionsRow
  conversion_items: ConversionItemsRow
}

export const orderTables: Record<keyof OrderTables, 'store_id'> = {
  orders: 'store_id',
  order_items: 'store_id',
  attribution_touches: 'store_id',
  conversions: 'store_id',
  conversion_items: 'store_id',
}
