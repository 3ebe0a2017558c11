/** Decides whether a review's author is proven (rule 7). */
import { type RawBuilder, sql } from 'kysely'

/**
 * An SQL condition: whether the owner of the review's email address is proven to be its author. The proof is the link of
 * a review request, the confirmation link mailed to the address, or the merchant's word. An address that was only typed
 * into the form proves nothing, so such a review must have no effect on the address's owner.
 */
export const hasProvenAuthor = (row: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${row}.source`)} <> 'storefront' or ${sql.ref(`${row}.verified`)})`
