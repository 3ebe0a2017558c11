/** Back-in-stock subscriptions, the batch rollout of their alerts, and the stock counter. */
import type { Generated } from 'kysely'
import type { Instant, Json, NullableInstant, NullableJson, NullableNumeric, StoreColumn } from './columns.ts'

interface StockAlertSettingsRow {
  store_id: StoreColumn
  is_enabled: Generated<boolean>
  content: NullableJson
  webhook_registered_at: NullableInstant
  /** The `connected_at` of the connection for which the webhook was registered. */
  webhook_connection_at: NullableInstant
  last_stock_event_at: NullableInstant
  updated_at: NullableInstant
}

interface StockCounterSettingsRow {
  store_id: StoreColumn
  content: Json
  updated_at: Instant
}

interface StockSubscriptionsRow {
  store_id: StoreColumn
  id: string
  product_id: string
  variant_id: string
  product_name: string
  variant_name: string | null
  sku: string | null
  product_url: string | null
  product_image_url: string | null
  channel: string
  email: string | null
  phone: string | null
  /** Identifies the contact: the email in lower case or the phone's comparison form; null after an erasure. */
  contact_key: string | null
  name: string | null
  source: string
  status: string
  reason: string | null
  click_token: string
  attempt: Generated<number>
  claim_id: string | null
  claimed_at: NullableInstant
  /** True if the merchant requested the alert: it is then sent regardless of stock and settings. */
  is_wanted: Generated<boolean>
  called_at: NullableInstant
  reservation_id: string | null
  provider_message_id: string | null
  sent_at: NullableInstant
  delivered_at: NullableInstant
  read_at: NullableInstant
  failed_at: NullableInstant
  converted_at: NullableInstant
  converted_order_id: string | null
  revenue: NullableNumeric
  currency: string | null
  deleted_at: NullableInstant
  created_at: Instant
  updated_at: Instant
}

interface StockWavesRow {
  store_id: StoreColumn
  variant_id: string
  is_open: Generated<boolean>
  places: number | null
  started_at: NullableInstant
  ended_at: NullableInstant
}

export interface StockTables {
  stock_alert_settings: StockAlertSettingsRow
  stock_counter_settings: StockCounterSettingsRow
  stock_subscriptions: StockSubscriptionsRow
  stock_waves: StockWavesRow
}

export const stockTables: Record<keyof StockTables, 'store_id'> = {
  stock_alert_settings: 'store_id',
  stock_counter_settings: 'store_id',
  stock_subscriptions: 'store_id',
  stock_waves: 'store_id',
}
