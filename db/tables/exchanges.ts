/** Exchanges and returns. */
import type { Generated, GeneratedAlways } from 'kysely'
import type {
  DefaultNumeric,
  Instant,
  Json,
  NullableInstant,
  NullableJson,
  NullableNumeric,
  Numeric,
  StoreColumn,
} from './columns.ts'

interface ExchangeSettingsRow {
  store_id: StoreColumn
  /** The complete settings as they were last saved. */
  content: Json
  created_at: Instant
  updated_at: Instant
}

interface ExchangeNumbersRow {
  store_id: StoreColumn
  /** The last number that was used; a request's number is `EX-` and such a number. */
  last: number
}

interface ExchangeRequestsRow {
  store_id: StoreColumn
  id: string
  number: string
  type: string
  status: string
  order_id: string
  order_number: string
  order_placed_at: Instant
  /** The id of the rendered form, which identifies a repeated submission. */
  filling: string | null
  order_delivered_at: NullableInstant
  customer_id: string | null
  customer_name: string | null
  customer_email: string | null
  customer_phone: string | null
  /** The delivery address of the order, as an Address. */
  customer_address: NullableJson
  /** The keys of the reasons of all items, each once. */
  reasons: string[]
  photo_count: Generated<number>
  comment: string | null
  amount: Numeric
  /** Why the amount is less than the units are worth. */
  amount_reason: string | null
  /** Null for a return. */
  price_difference: NullableNumeric
  currency: string
  outside_window: Generated<boolean>
  return_method: string
  return_address: NullableJson
  return_code: string | null
  label_url: string | null
  carrier: string | null
  tracking_code: string | null
  /** The order's refunds at the platform up to the last decision on the request that are not for it. */
  order_refunded: DefaultNumeric
  refund_method: string | null
  refund_amount: NullableNumeric
  exchange_order_id: string | null
  rejection_code: string | null
  rejection_reason: string | null
  /** The searched text, built by `operations/exchanges/requests/search.ts`. */
  search_text: string
  /** The deadline for sending the goods, while the request is approved. */
  expires_at: NullableInstant
  approved_at: NullableInstant
  rejected_at: NullableInstant
  in_transit_at: NullableInstant
  received_at: NullableInstant
  completed_at: NullableInstant
  cancelled_at: NullableInstant
  expired_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface ExchangeItemsRow {
  store_id: StoreColumn
  id: string
  request_id: string
  position: number
  order_item_id: string
  product_id: string | null
  variant_id: string | null
  sku: string | null
  name: string
  variant_name: string | null
  image_url: string | null
  quantity: number
  /** Null until the request is decided. */
  approved_quantity: number | null
  received_quantity: number | null
  /** The price of the whole order line, as it was paid. */
  line_total: Numeric
  /** Units of the whole order line. */
  line_quantity: number
  /** The indexes of the units within the line, from 0; null means the first units. */
  line_units: Generated<number[] | null>
  /** The number of units of the line that the platform had refunded when the request was made. */
  line_refunded: Generated<number>
  unit_price: Numeric
  reason: string
  reason_label: string
  comment: string | null
  /** `{ productId, variantId, name, variantName, unitPrice }`, the price a number; null on a return. */
  exchange_for: NullableJson
  /** A copy of the request's `created_at`. */
  requested_at: Instant
}

interface ExchangePhotosRow {
  store_id: StoreColumn
  id: string
  request_id: string
  position: number
  /** The photo's address. */
  url: string
  /** The photo's key in the storage. */
  key: string
  content_type: string
  size: number
}

interface ExchangeHistoryRow {
  store_id: StoreColumn
  id: string
  request_id: string
  place: GeneratedAlways<string>
  at: Instant
  event: string
  from_status: string | null
  to_status: string | null
  /** `customer`, `member`, `system`. */
  actor_type: string
  actor_name: string | null
  note: string | null
}

interface ExchangeTokensRow {
  store_id: StoreColumn
  hash: string
  request_id: string
  created_at: Instant
}

interface ExchangeNoticesRow {
  store_id: StoreColumn
  id: string
  request_id: string
  event: string
  /** 1 for the first occurrence of the event; higher if the event occurs again. */
  sequence: number
  /** `email`, `messaging`. */
  channel: string
  /** `waiting`, `sending`, `sent`, `failed`. */
  state: string
  /** The email address or phone of the customer when the request was made. */
  recipient: string
  /** The rendered message, from when a worker claims it until it is sent. */
  content: NullableJson
  reservation_id: string | null
  tries: Generated<number>
  /** When a provider call with an unknown outcome began; null if no provider has the message. */
  called_at: NullableInstant
  next_try_at: Instant
  provider_message_id: string | null
  failure: string | null
  sent_at: NullableInstant
  delivered_at: NullableInstant
  read_at: NullableInstant
  failed_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface ExchangeUsedUnitsRow {
  store_id: StoreColumn
  order_id: string
  order_item_id: string
  request_id: string
  units: number
  /** As in `exchange_items`. */
  line_units: Generated<number[] | null>
  line_refunded: Generated<number>
  order_refunded: DefaultNumeric
  /** The value of the whole request, only in the first of its rows. */
  amount: DefaultNumeric
  created_at: Instant
}

export interface ExchangeTables {
  exchange_settings: ExchangeSettingsRow
  exchange_numbers: ExchangeNumbersRow
  exchange_requests: ExchangeRequestsRow
  exchange_items: ExchangeItemsRow
  exchange_photos: ExchangePhotosRow
  exchange_history: ExchangeHistoryRow
  exchange_tokens: ExchangeTokensRow
  exchange_notices: ExchangeNoticesRow
  exchange_used_units: ExchangeUsedUnitsRow
}

export const exchangeTables: Record<keyof ExchangeTables, 'store_id'> = {
  exchange_settings: 'store_id',
  exchange_numbers: 'store_id',
  exchange_requests: 'store_id',
  exchange_items: 'store_id',
  exchange_photos: 'store_id',
  exchange_history: 'store_id',
  exchange_tokens: 'store_id',
  exchange_notices: 'store_id',
  exchange_used_units: 'store_id',
}
