/** The storefront's side: the mirror of the catalog, what shoppers' browsers told, and its sums by day. */
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
  /** Units over all variants; null where the platform does not track them. */
  stock: number | null
  is_published: boolean
  /** False once a full pass no longer met it. */
  exists: Generated<boolean>
  platform_created_at: Instant
  platform_updated_at: Instant
  /** Of all that is shown or targeted, variants included: another one is a change. */
  digest: string
  /** When the platform last said something new of it. */
  checked_at: Instant
}

interface CatalogMirrorsRow {
  store_id: StoreColumn
  /** Raised by each change of a snapshot. */
  revision: Generated<number>
  /** The connection that the last whole pass read; null: none was read whole. */
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
  /** Half hours since 1970, of an impression. */
  slot: number | null
  happened_at: Instant
}

interface WidgetDailyRow {
  store_id: StoreColumn
  widget: string
  /** Empty where the widget has no resources. */
  resource_id: Generated<string>
  day: string
  impressions: Generated<number>
  clicks: Generated<number>
  closes: Generated<number>
  cart_adds: Generated<number>
  /** Visitors of that day, each once. */
  visitors: Generated<number>
}

interface StorefrontScriptsRow {
  store_id: StoreColumn
  /** `none`, `publishing` (a job is on its way), `installed`, `failed`. */
  state: Generated<string>
  /** Why it failed. */
  message: string | null
  /** The platform's own id of it. */
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
