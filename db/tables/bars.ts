/** Storefront banners and alerts. */
import type { Instant, Json, StoreColumn } from './columns.ts'

interface BarSettingsRow {
  store_id: StoreColumn
  /** `free-shipping`, `countdown`, `action`. */
  bar: string
  content: Json
  created_at: Instant
  updated_at: Instant
}

interface FomoAlertsRow {
  store_id: StoreColumn
  id: string
  /** One row per store and type. */
  alert_type: string
  content: Json
  created_at: Instant
  updated_at: Instant
}

export interface BarTables {
  bar_settings: BarSettingsRow
  fomo_alerts: FomoAlertsRow
}

export const barTables: Record<keyof BarTables, 'store_id'> = {
  bar_settings: 'store_id',
  fomo_alerts: 'store_id',
}
