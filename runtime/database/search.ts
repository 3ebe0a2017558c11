/** Text looked for anywhere in a column, in the one form that a trigram index helps with. */
import { type RawBuilder, sql } from 'kysely'
import { cleanEmail } from '#runtime/values/email'
import { otherDigits, phoneSigns } from '#runtime/values/phone'

/**
 * The pattern for `like`: what the text has of its own wildcards stands for itself. An address is looked for as
 * addresses are kept: without what was copied along with it.
 */
export const containing = (text: string): string =>
  `%${(isAddress.test(text) ? cleanEmail(text) : text).replace(/[\\%_]/g, '\\$&')}%`
const isAddress = /[@\uff20\ufe6b]/

/**
 * Patterns for the digits of a phone, in each way that the same person may be stored; null where the text is no part
 * of one. To be looked for with `phoneLike`.
 */
export function phoneContaining(text: string, country: string): string[] | null {
  const signs = phoneSigns(text)
  const found = signs === null ? [] : otherDigits(signs, country)
  return found.length === 0 ? null : found.map(containing)
}

/** Whether a column of phones (E.164) has one of the patterns of `phoneContaining`. */
export const phoneLike = (column: string, patterns: unknown): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(column)} like any(${patterns}::text[])`
