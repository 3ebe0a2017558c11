/** The storefront: the catalog cache, events of shoppers' browsers, and their daily sums. */
import type { Generated } from 'kysely'
import type { Instant, NullableInstant, NullableNumeric, Numeric, StoreColumn } from './columns.ts'

interface ProductSnapshotsRow {
  store_id: StoreColumn
  product_id: string
  name: string
  handle: string
  url: string
  image_url: string | null
  brand: string | null
  tags: string[]
  /** The categories of the product and all of their ancestors. */
  category_ids: string[]
  price: Numeric
  compare_at_price: NullableNumeric
  currency: string
  /** Units over all variants; null if the platform does not track them. */
  stock: number | null
  is_published: boolean
  /** False if the last full read of the catalog did not contain the product. */
  exists: Generated<boolean>
  platform_created_at: Instant
  platform_updated_at: Instant
  /** A hash of all data that is shown or used for targeting, including variants. */
  digest: string
  /** When the platform last reported a change. */
  checked_at: Instant
}

interface CatalogMirrorsRow {
  store_id: StoreColumn
  /** Incremented by each change of a snapshot. */
  revision: Generated<number>
  /** Identifies the connection of the last full read of the catalog; null before the first. */
  connected_at: NullableInstant
  read_at: NullableInstant
}

interface ProductSnapshotVariantsRow {
  store_id: StoreColumn
  product_id: string
  variant_id: string
  name: string
  sku: string | null
  image_url: string | null
  price: Numeric
  compare_at_price: NullableNumeric
  stock: number | null
  is_available: boolean
  position: number
}

interface StorefrontEventsRow {
  store_id: StoreColumn
  id: string
  type: string
  widget: string
  resource_id: string
  product_id: string | null
  variant_id: string | null
  visitor_id: string
  device: string | null
  /** For an impression: its time in half hours since 1970. */
  slot: number | null
  happened_at: Instant
}

interface WidgetDailyRow {
  store_id: StoreColumn
  widget: string
  /** Empty if the widget has no resources. */
  resource_id: Generated<string>
  day: string
  impressions: Generated<number>
  clicks: Generated<number>
  closes: Generated<number>
  cart_adds: Generated<number>
  /** Distinct visitors of that day. */
  visitors: Generated<number>
}

interface StorefrontScriptsRow {
  store_id: StoreColumn
  /** `none`, `publishing` (a job is on its way), `installed`, `failed`. */
  state: Generated<string>
  /** Why the installation failed. */
  message: string | null
  /** The platform's id of the script. */
  script_id: string | null
  installed_at: NullableInstant
  last_seen_at: NullableInstant
  updated_at: Instant
}

export interface StorefrontTables {
  catalog_mirrors: CatalogMirrorsRow
  product_snapshots: ProductSnapshotsRow
  product_snapshot_variants: ProductSnapshotVariantsRow
  storefront_events: StorefrontEventsRow
  storefront_scripts: StorefrontScriptsRow
  widget_daily: WidgetDailyRow
}

export const storefrontTables: Record<keyof StorefrontTables, 'store_id'> = {
  catalog_mirrors: 'store_id',
  product_snapshots: 'store_id',
  product_snapshot_variants: 'store_id',
  storefront_events: 'store_id',
  storefront_scripts: 'store_id',
  widget_daily: 'store_id',
}
