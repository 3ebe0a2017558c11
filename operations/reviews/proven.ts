/** Whose word a review is (rule 7). */
import { type RawBuilder, sql } from 'kysely'

/**
 * Whether whose address stands on a review is known to have written it: by the link of a request, by the link mailed to
 * the address, or because the merchant says so. What a stranger typed into the form proves nothing, and changes nothing
 * for whoever the address belongs to.
 */
export const isProven = (row: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${row}.source`)} <> 'storefront' or ${sql.ref(`${row}.verified`)})`
