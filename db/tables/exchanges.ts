/** What shoppers ask to exchange or return. */
import type { Instant, Json, StoreColumn } from './columns.ts'

interface ExchangeSettingsRow {
  store_id: StoreColumn
  /** The whole as it was last saved. */
  content: Json
  created_at: Instant
  updated_at: Instant
}

export interface ExchangeTables {
  exchange_settings: ExchangeSettingsRow
}

export const exchangeTables: Record<keyof ExchangeTables, 'store_id'> = {
  exchange_settings: 'store_id',
}
