/** Looks, size guides, and the wishlists of shoppers. */
import type { Generated, GeneratedAlways } from 'kysely'
import type { Instant, Json, NullableInstant, StoreColumn } from './columns.ts'

interface LooksRow {
  store_id: StoreColumn
  id: string
  name: string
  /** Description, picture, items and targeting. */
  content: Json
  is_active: boolean
  /** Whether the look's items were available in the catalog cache at the last check. */
  health: string
  checked_at: Instant
  impressions: Generated<number>
  clicks: Generated<number>
  cart_adds: Generated<number>
  created_at: Instant
  updated_at: Instant
}

interface SizeGuidesRow {
  store_id: StoreColumn
  id: string
  name: string
  /** Targeting, tables and display. */
  content: Json
  is_active: boolean
  created_at: Instant
  updated_at: Instant
}

/** Visitors who have given an email address or a phone. */
interface WishlistVisitorsRow {
  store_id: StoreColumn
  visitor_id: string
  email: string | null
  phone: string | null
  phone_key: string | null
  name: string | null
  consent: boolean
  /** Derived from the email, or from the phone without an email: equal for all visitors with the same contact. */
  contact_key: GeneratedAlways<string>
  created_at: Instant
  updated_at: Instant
}

interface WishesRow {
  store_id: StoreColumn
  /** The id of the browser's event that added the product. */
  id: string
  visitor_id: string
  product_id: string
  /** Empty if no variant was chosen. */
  variant_id: Generated<string>
  added_at: Instant
  /** Null while the product is in the list. */
  removed_at: NullableInstant
}

interface WishlistCartDaysRow {
  store_id: StoreColumn
  day: string
  /** Empty if the event named no product. */
  product_id: string
  cart_adds: Generated<number>
}

export interface LookTables {
  looks: LooksRow
  size_guides: SizeGuidesRow
  wishes: WishesRow
  wishlist_cart_days: WishlistCartDaysRow
  wishlist_visitors: WishlistVisitorsRow
}

export const lookTables: Record<keyof LookTables, 'store_id'> = {
  looks: 'store_id',
  size_guides: 'store_id',
  wishes: 'store_id',
  wishlist_cart_days: 'store_id',
  wishlist_visitors: 'store_id',
}
