/**
 * What other sections have on the home page, registered from their wiring: builders, so that all of it stays one
 * statement. What nobody registered is 0 or empty.
 */
import { type AliasableExpression, type Expression, type Kysely, sql } from 'kysely'
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

export interface PendingPart {
  /** Of the plan; without it the count is 0. Null: every plan. */
  feature: string | null
  /** One row with one whole number. The values are placeholders: the key's creator, and the clock's now. */
  count(db: Db, values: { userId: string; now: Date }): Expression<unknown>
}

const pending = new Map<PendingType, PendingPart>([
  [
    'campaigns-paused',
    {
      feature: 'campaigns',
      count: (db) =>
        db
          .selectFrom('campaigns')
          .where('status', '=', 'paused')
          .where('deleted_at', 'is', null)
          .select(sql`count(*)::int`.as('n')),
    },
  ],
  [
    'templates-rejected',
    {
      feature: 'messaging',
      count: (db) =>
        db
          .selectFrom('message_templates')
          .where('status', '=', 'rejected')
          .select(sql`count(*)::int`.as('n')),
    },
  ],
])

/** Registers how many things of a type wait for the merchant. */
export const registerPending = (type: PendingType, part: PendingPart): void => {
  pending.set(type, part)
}
export const pendingPart = (type: PendingType): PendingPart | undefined => pending.get(type)

export interface StockRequests {
  feature: string
  /** A row for each request, with its instant. */
  rows(db: Db): AliasableExpression<{ at: Date }>
}
let requests: StockRequests | null = null
/** Registers where requests to be told of new stock are kept. */
export const registerStockRequests = (part: StockRequests): void => {
  requests = part
}
export const stockRequests = (): StockRequests | null => requests

export interface RecentReviews {
  feature: string
  /** One row with the five newest as a JSON array of `{ id, productName, customerName, rating, text, status, createdAt }`. */
  newest(db: Db): Expression<unknown>
}
let reviews: RecentReviews | null = null
/** Registers where reviews are kept. */
export const registerRecentReviews = (part: RecentReviews): void => {
  reviews = part
}
export const recentReviews = (): RecentReviews | null => reviews
