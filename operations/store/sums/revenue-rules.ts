/** Which orders and conversions count as revenue (rule 2), for all figures. */
import { type RawBuilder, sql } from 'kysely'

/** The sources of conversions, in the order of the documents. */
export const sourceTypes = ['automation', 'messaging-campaign', 'newsletter', 'stock-notification'] as const

/** `alias`: of the table `orders`. */
export const isCountedOrder = (alias: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${alias}.payment_status`)} in ('paid', 'partially-refunded') and ${sql.ref(`${alias}.status`)} <> 'cancelled')`

export const isCountedConversion = (alias: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(`${alias}.status`)} in ('confirmed', 'partially-refunded')`
