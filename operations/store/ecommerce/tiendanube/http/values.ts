/** Converts Tiendanube's values: texts in several languages, timestamps, ids, cursors. */
import { Refused } from '#runtime/ports/errors'

/** A text by language, such as `{ es: 'Taza', pt: 'Caneca' }`. An empty one may be a list, as PHP writes empty objects. */
export type Localized = Record<string, string | null> | readonly unknown[] | string | null | undefined

/** The text in the shop's main language, otherwise in any; an empty text if there is none. */
export function pickText(text: Localized, language: string): string {
  if (typeof text === 'string') return text
  if (!text || Array.isArray(text)) return ''
  const byLanguage = text as Record<string, string | null>
  return byLanguage[language] || Object.values(byLanguage).find(Boolean) || ''
}

/**
 * Converts a timestamp such as `2022-11-15T19:36:59+0000` to UTC in ISO 8601. One without a zone is in UTC. Null for none,
 * which Tiendanube also writes as `-0001-11-30T00:00:00+0000`.
 */
export function toInstantOrNull(text: string | null | undefined): string | null {
  if (!text) return null
  const at = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text.replace(' ', 'T')}Z`)
  return Number.isNaN(at) ? null : new Date(at).toISOString()
}

/** Like `toInstantOrNull`, but the beginning of 1970 for none: one row without its time must not stop a list. */
export const toInstant = (text: string | null | undefined): string =>
  toInstantOrNull(text) ?? new Date(0).toISOString()

/** Whether the id can exist at Tiendanube. Other ids must not be requested. */
export const isPlainId = (id: string): boolean => /^[1-9]\d{0,17}$/.test(id)

/** An address that may begin with `//`. */
export const toHttps = (address: string): string => address.replace(/^(?:http:)?\/\//, 'https://')

/** The number of a page from a cursor; 1 without a cursor. */
export function readPageCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 1
  if (/^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor)
  throw badCursor()
}

export const badCursor = (cause?: unknown): Refused =>
  new Refused('bad-cursor', 'cursor: was not issued by this platform, leave it out to start again', { cause })
