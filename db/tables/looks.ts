/** Looks, size guides, and the wishlists of shoppers. */
import type { Generated, GeneratedAlways } from 'kysely'
import type { Instant, Json, NullableInstant, StoreColumn } from './columns.ts'

interface LooksRow {
  store_id: StoreColumn
  id: string
  name: string
  /** Description, picture, items, and where it is shown. */
  content: Json
  is_active: boolean
  /** As the mirror of the catalog had its items when they were last checked. */
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
  /** Targeting, tables and how it is shown. */
  content: Json
  is_active: boolean
  created_at: Instant
  updated_at: Instant
}

/** Those who left a contact. */
interface WishlistVisitorsRow {
  store_id: StoreColumn
  visitor_id: string
  email: string | null
  phone: string | null
  phone_key: string | null
  name: string | null
  consent: boolean
  /** One for all visitors with the same email, else with the same phone. */
  contact_key: GeneratedAlways<string>
  created_at: Instant
  updated_at: Instant
}

interface WishesRow {
  store_id: StoreColumn
  /** The event's. */
  id: string
  visitor_id: string
  product_id: string
  /** Empty: of no variant. */
  variant_id: Generated<string>
  added_at: Instant
  /** Null: it is in the list. */
  removed_at: NullableInstant
}

interface WishlistCartDaysRow {
  store_id: StoreColumn
  day: string
  /** Empty where the event named none. */
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
