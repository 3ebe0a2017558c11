/** Daily sums, so that statistics need not read a million rows. */
import type { Generated } from 'kysely'
import type { Instant, Numeric, StoreColumn } from './columns.ts'

interface ConversionZonesRow {
  store_id: StoreColumn
  timezone: string
  /** Days before this one are summed; null if all days are. */
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
  /** `orders` (those that count), `messages` (of the messaging channel) or `touches` (by messages). */
  kind: string
  /** The currency of orders; empty for other kinds. */
  currency: string
  n: number
  amount: Numeric
  /** For touches: how many of them have a conversion that counts. */
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
