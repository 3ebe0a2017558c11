/** What counts as money that came in (rule 2): the same words for every figure. */
import { type RawBuilder, sql } from 'kysely'

/** The four that a conversion may come from, in the order of the documents. */
export const sourceTypes = ['automation', 'messaging-campaign', 'newsletter', 'stock-notification'] as const

/** Of the table's alias. */
export const isCountedOrder = (alias: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${alias}.payment_status`)} in ('paid', 'partially-refunded') and ${sql.ref(`${alias}.status`)} <> 'cancelled')`

export const isCountedConversion = (alias: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(`${alias}.status`)} in ('confirmed', 'partially-refunded')`
