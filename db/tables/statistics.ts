/** Daily sums, which the statistics read instead of a million rows. */
import type { Generated } from 'kysely'
import type { Instant, Numeric, StoreColumn } from './columns.ts'

interface ConversionZonesRow {
  store_id: StoreColumn
  timezone: string
  /** Earlier days are summed; null: all are. */
  built_before: string | null
  created_at: Instant
}

interface ConversionDaysRow {
  store_id: StoreColumn
  timezone: string
  day: string
  source_type: string
  currency: string
  orders: number
  revenue: Numeric
  /** How many of these orders recovered an abandoned cart. */
  carts: Generated<number>
}

interface ConversionProductDaysRow {
  store_id: StoreColumn
  timezone: string
  day: string
  source_type: string
  currency: string
  product_id: string
  orders: number
  units: number
  revenue: Numeric
}

interface ConversionProductsRow {
  store_id: StoreColumn
  product_id: string
  name: string
  image_url: string | null
  seen_at: Instant
}

interface ActivityDaysRow {
  store_id: StoreColumn
  timezone: string
  day: string
  /** `orders` (counted ones), `messages` (the messaging channel), `touches` (by message). */
  kind: string
  /** For orders; otherwise empty. */
  currency: string
  n: number
  amount: Numeric
  /** For touches: those with a counted conversion. */
  converted: number
}

export interface StatisticsTables {
  conversion_zones: ConversionZonesRow
  conversion_days: ConversionDaysRow
  conversion_product_days: ConversionProductDaysRow
  conversion_products: ConversionProductsRow
  activity_days: ActivityDaysRow
}

export const statisticsTables: Record<keyof StatisticsTables, 'store_id'> = {
  conversion_zones: 'store_id',
  conversion_days: 'store_id',
  conversion_product_days: 'store_id',
  conversion_products: 'store_id',
  activity_days: 'store_id',
}
