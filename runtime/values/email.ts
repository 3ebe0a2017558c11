/** Email addresses: one form to keep, one to compare. */
import { type RawBuilder, sql } from 'kysely'
import { visible } from './signs.ts'

const isAscii = /^[\x21-\x7e]*$/

/**
 * An address as it is kept: without blanks around it, and without what cannot be seen or was typed full width. One
 * beyond ASCII is kept in small letters, so that every database's `lower` agrees with ours.
 */
export function cleanEmail(text: string): string {
  const trimmed = text.trim()
  return isAscii.test(trimmed) ? trimmed : inSmall(visible(trimmed).normalize('NFKC').trim())
}

const inSmall = (text: string): string => (isAscii.test(text) ? text : text.toLowerCase())

/** The form that addresses are compared in, and the only one. */
export const emailKey = (text: string): string => cleanEmail(text).toLowerCase()

export const isSameEmail = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && emailKey(one) === emailKey(other)

/** A column of addresses in the form that they are compared in, as their indexes have it. */
export const emailKeyOf = (column: string): RawBuilder<string> => sql<string>`lower(${sql.ref(column)})`
