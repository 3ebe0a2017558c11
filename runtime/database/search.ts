/** Substring search in columns, written in the form that a trigram index supports. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { cleanEmail } from '#runtime/values/email'
import { cleanPhone, listDigitForms } from '#runtime/values/phone'

/** The pattern for `like`, with its wildcards escaped. An email address is normalized as stored addresses are. */
export const toLikePattern = (text: string): string =>
  `%${(isAddress.test(text) ? cleanEmail(text) : text).replace(/[\\%_]/g, '\\$&')}%`
const isAddress = /[@\uff20\ufe6b]/

/**
 * Returns patterns that find a part of a phone number in each form in which it may be stored; null if the text cannot
 * be part of a phone number. Used with `phoneLike`.
 */
export function toPhonePatterns(text: string, country: string): string[] | null {
  const signs = cleanPhone(text)
  const found = signs === null ? [] : listDigitForms(signs, country)
  return found.length === 0 ? null : found.map(toLikePattern)
}

/** Whether a column of phones (E.164) matches one of the patterns of `toPhonePatterns`. */
export const phoneLike = (column: string, patterns: unknown): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(column)} like any(${patterns}::text[])`

/** A search among the filters of a list. `digits`: patterns for phones, if the text can be part of a phone number. */
export interface SearchFilter {
  search?: string
  digits?: string[]
}

/** Converts a search text into filters; none without a text. `form`: normalizes the text as the list stores it. */
export function toSearchFilter(
  ctx: Context,
  text: string | undefined,
  form: (text: string) => string = (asGiven) => asGiven,
): SearchFilter {
  if (text === undefined) return {}
  const digits = toPhonePatterns(text, ctx.store.country)
  return { search: toLikePattern(form(text)), ...(digits === null ? {} : { digits }) }
}

/** Whether one of the columns contains the text, ignoring case, or the column `phone` contains its digits. */
export function matchesSearch(
  columns: readonly string[],
  phone: string,
  { search, digits }: Required<SearchFilter>,
  has: (name: keyof SearchFilter) => boolean,
): RawBuilder<boolean> {
  const found = columns.map((column) => sql`lower(${sql.ref(column)}) like lower(${search}::text)`)
  if (has('digits')) found.push(phoneLike(phone, digits))
  return sql<boolean>`(${sql.join(found, sql` or `)})`
}
