/** Searches words in columns, written in the form that a trigram index supports. */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { toSearchWords } from '#runtime/values/fold'
import { cleanPhone, listDigitForms } from '#runtime/values/phone'

/** The pattern for `like`, with its wildcards escaped. */
const toLikePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

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

/**
 * A search among the filters of a list. `search`: a pattern for each word, the longest first. `digits`: patterns for
 * phones, if the text can be part of a phone number.
 */
export interface SearchFilter {
  search?: string[]
  digits?: string[]
}

/** Converts a search text into a filter of names and texts; none without a text. */
export const toWordsFilter = (text: string | undefined): Pick<SearchFilter, 'search'> =>
  text === undefined ? {} : { search: toSearchWords(text).map(toLikePattern) }

/** The filters of a list, with its search text as patterns. */
export function toPatterns<F extends object>(filters: F): F {
  const { search } = filters as { search?: unknown }
  return typeof search === 'string' ? { ...filters, ...toWordsFilter(search) } : filters
}

/** Converts a search text into filters that also find phones; none without a text. */
export function toSearchFilter(ctx: Context, text: string | undefined): SearchFilter {
  if (text === undefined) return {}
  const digits = toPhonePatterns(text, ctx.store.country)
  return { ...toWordsFilter(text), ...(digits === null ? {} : { digits }) }
}

/**
 * Whether a folded text contains every word; none of a search without letters, which has no words. The first pattern has
 * a condition of its own, since no index supports `like all`.
 */
export const foldedLike = (folded: RawBuilder<unknown>, patterns: unknown): RawBuilder<boolean> =>
  sql<boolean>`(${folded} like (${patterns}::text[])[1] and ${folded} like all((${patterns}::text[])[2:]))`

/** Whether the columns together contain every word. An index needs the same columns in the same order. */
export const matchesWords = (columns: readonly string[], patterns: unknown): RawBuilder<boolean> =>
  foldedLike(sql`fold_text(${columns.length === 1 ? sql.ref(columns[0]!) : joined(columns)})`, patterns)

const joined = (columns: readonly string[]): RawBuilder<unknown> =>
  sql.join(
    columns.map((column) => sql`coalesce(${sql.ref(column)}, '')`),
    sql` || ' ' || `,
  )

/** Whether the columns together contain every word, or the column `phone` the digits. */
export function matchesSearch(
  columns: readonly string[],
  phone: string,
  { search, digits }: Required<SearchFilter>,
  has: (name: keyof SearchFilter) => boolean,
): RawBuilder<boolean> {
  const byWords = matchesWords(columns, search)
  return has('digits') ? sql<boolean>`(${byWords} or ${phoneLike(phone, digits)})` : byWords
}
