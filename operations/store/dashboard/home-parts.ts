/**
 * What other sections have on the home page: builders, so that all of it stays one statement. What nobody wired is 0 or
 * empty.
 */
import type { AliasableExpression, Expression, Kysely } from 'kysely'
import type { TenantTables } from '#db/tables'

type Db = Kysely<TenantTables>

/** In the order they are shown. */
export const pendingTypes = [
  'reviews-pending',
  'exchange-requests-pending',
  'conversations-unread',
  'campaigns-paused',
  'templates-rejected',
  'notifications-unread',
] as const
export type PendingType = (typeof pendingTypes)[number]

/** How many things of a type wait for the merchant. */
export interface PendingPart {
  /** Of the plan; without it the count is 0. Null: every plan. */
  feature: string | null
  /** One row with one whole number. The values are placeholders: the key's creator, and the clock's now. */
  count(db: Db, values: { userId: string; now: Date }): Expression<unknown>
}

export interface StockRequests {
  feature: string
  /** A row for each request, with its instant. */
  rows(db: Db): AliasableExpression<{ at: Date }>
}

export interface RecentReviews {
  feature: string
  /** One row with the five newest as a JSON array of `{ id, productName, customerName, rating, text, status, createdAt }`. */
  newest(db: Db): Expression<unknown>
}
