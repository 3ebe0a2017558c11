/** Email addresses: the form in which they are stored, and the form in which they are compared. */
import { type RawBuilder, sql } from 'kysely'
import { stripInvisible } from './confusables.ts'

const isAscii = /^[\x21-\x7e]*$/

/**
 * The stored form of an address: without surrounding blanks, invisible characters and full-width forms. A non-ASCII
 * address is stored in lower case, so that every database's `lower` agrees with ours.
 */
export function cleanEmail(text: string): string {
  const trimmed = text.trim()
  return isAscii.test(trimmed) ? trimmed : lowerNonAscii(stripInvisible(trimmed).normalize('NFKC').trim())
}

const lowerNonAscii = (text: string): string => (isAscii.test(text) ? text : text.toLowerCase())

/** The only form that addresses are compared in. */
export const emailKey = (text: string): string => cleanEmail(text).toLowerCase()

export const isSameEmail = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && emailKey(one) === emailKey(other)

/** SQL for a column of addresses in the comparison form; the indexes on addresses use the same expression. */
export const emailKeySql = (column: string): RawBuilder<string> => sql<string>`lower(${sql.ref(column)})`
