/**
 * Parts that other sections add to the home page. They provide query builders instead of results, so that the page is read
 * with one statement. A part that no section provides is 0 or empty.
 */
import type { AliasableExpression, Expression, Kysely } from 'kysely'
import type { TenantTables } from '#db/tables'

type Db = Kysely<TenantTables>

/** The types of pending items, in the order in which they are displayed. */
export const pendingTypes = [
  'reviews-pending',
  'exchange-requests-pending',
  'conversations-unread',
  'campaigns-paused',
  'templates-rejected',
  'notifications-unread',
] as const
export type PendingType = (typeof pendingTypes)[number]

/** Counts the items of one type that the merchant has to deal with. */
export interface PendingPart {
  /** The required feature: without it the count is 0. Null: no feature is required. */
  feature: string | null
  /**
   * A query for one row with one integer. `values` are SQL placeholders: `userId` is the user who created the API key, `now`
   * the current time.
   */
  count(db: Db, values: { userId: string; now: Date }): Expression<unknown>
}

export interface StockRequests {
  feature: string
  /** A query for one row per stock request, with the instant of the request. */
  rows(db: Db): AliasableExpression<{ at: Date }>
}

export interface RecentReviews {
  feature: string
  /**
   * A query for one row with the five newest reviews, as a JSON array of
   * `{ id, productName, customerName, rating, text, status, createdAt }`.
   */
  newest(db: Db): Expression<unknown>
}
