/** Text looked for anywhere in a column, in the one form that a trigram index helps with. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
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

/** What is looked for, among the filters of a list: a pattern, and those of a phone where it can be part of one. */
export interface Sought {
  search?: string
  digits?: string[]
}

/** Nothing where nothing is looked for. `form`: the one in which the list keeps its text. */
export function sought(
  ctx: Context,
  text: string | undefined,
  form: (text: string) => string = (asGiven) => asGiven,
): Sought {
  if (text === undefined) return {}
  const digits = phoneContaining(text, ctx.store.country)
  return { search: containing(form(text)), ...(digits === null ? {} : { digits }) }
}

/** Whether one of the columns has what is looked for, whatever its case, or the column of phones its digits. */
export function isFound(
  columns: readonly string[],
  phone: string,
  { search, digits }: Required<Sought>,
  has: (name: keyof Sought) => boolean,
): RawBuilder<boolean> {
  const found = columns.map((column) => sql`lower(${sql.ref(column)}) like lower(${search}::text)`)
  if (has('digits')) found.push(phoneLike(phone, digits))
  return sql<boolean>`(${sql.join(found, sql` or `)})`
}
