/**
 * Parts of other sections on the home page: query builders, so that the page is read with one statement. A part that no
 * section provides is 0 or empty.
 */
import type { AliasableExpression, Expression, Kysely } from 'kysely'
import type { TenantTables } from '#db/tables'

type Db = Kysely<TenantTables>

/** In display order. */
export const pendingTypes = [
  'reviews-pending',
  'exchange-requests-pending',
  'conversations-unread',
  'campaigns-paused',
  'templates-rejected',
  'notifications-unread',
] as const
export type PendingType = (typeof pendingTypes)[number]

/** Counts items of a type that wait for the merchant. */
export interface PendingPart {
  /** The feature it needs; without it the count is 0. Null: none. */
  feature: string | null
  /** One row with one integer. The values are placeholders: the key's creator, and the current time. */
  count(db: Db, values: { userId: string; now: Date }): Expression<unknown>
}

export interface StockRequests {
  feature: string
  /** One row per request, with its instant. */
  rows(db: Db): AliasableExpression<{ at: Date }>
}

export interface RecentReviews {
  feature: string
  /** One row with the five newest as a JSON array of `{ id, productName, customerName, rating, text, status, createdAt }`. */
  newest(db: Db): Expression<unknown>
}
