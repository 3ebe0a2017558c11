/** Defines which orders and conversions count as revenue in all statistics (rule 2). */
import { type RawBuilder, sql } from 'kysely'

/** The sources of conversions, in the order in which API responses list them. */
export const sourceTypes = ['automation', 'messaging-campaign', 'newsletter', 'stock-notification'] as const

/** Whether an order counts. `alias`: the alias of the table `orders`. */
export const isCountedOrder = (alias: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${alias}.payment_status`)} in ('paid', 'partially-refunded') and ${sql.ref(`${alias}.status`)} <> 'cancelled')`

export const isCountedConversion = (alias: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(`${alias}.status`)} in ('confirmed', 'partially-refunded')`
