/** Proof of a review's author (rule 7). */
import { type RawBuilder, sql } from 'kysely'

/**
 * Whether the owner of the review's email address is proven to be its author: by the link of a request, by the link
 * mailed to the address, or by the merchant. An address typed into the form proves nothing, so an unproven review has
 * no effect on the address's owner.
 */
export const hasProvenAuthor = (row: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${row}.source`)} <> 'storefront' or ${sql.ref(`${row}.verified`)})`
