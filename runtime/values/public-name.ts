/** Names that everybody may read. */

import { hasVisible, stripDirectionMarks, toPlainCharacters } from './confusables.ts'
import { trimEndWhile, trimStartWhile } from './trim.ts'
import { getText } from './wording.ts'

const address = /(?<!\S)\S*\s?@\s?\S*/gu
/** Seven or more digits, as in a phone number, with separators and the brackets of its area. */
const number = /(?:\((?=\+?\d{1,4}\)))?\+?\d(?:[\s().\-/]*\d){6,}/gu
/** Text that mail programs and phones turn into a link, beyond a bare domain: some shops are named after theirs. */
const link = /(?<!\S)(?=\S*(?::\/\/|\bwww\.|[\w-]\.[a-z]{2,}[/?#:]))\S*/giu
/** Remnants at an edge after something was removed. In many scripts a name ends with a mark that is a vowel. */
const isLeadingRemnant = (sign: string): boolean => /[^\p{L}\p{N}]/u.test(sign)
const isTrailingRemnant = (sign: string): boolean => /[^\p{L}\p{M}\p{N}.!)]/u.test(sign)

/**
 * The public form of a person's name: without an email address or a phone, which platforms and forms use as names, and
 * without a link, which spammers put there; null if no name is left.
 */
export function toPublicName(name: string | null): string | null {
  if (name === null || !hasVisible(name)) return null
  const plain = toPlainCharacters(name)
  const left = plain.replace(link, ' ').replace(address, ' ').replace(number, ' ')
  if (left === plain) return stripDirectionMarks(name).trim()
  const plainer = left.replace(/[([{<]\s*[)\]}>]/g, ' ').replace(/\s+/g, ' ')
  const result = trimEndWhile(trimStartWhile(plainer, isLeadingRemnant), isTrailingRemnant)
  return /\p{L}/u.test(result) ? result : null
}

const nobody = { en: 'Someone', 'pt-BR': 'Alguém', es: 'Alguien' }

/** Shown to shoppers instead of a name that is not public. */
export const getAnonymousName = (locale: string): string => getText(nobody, locale)
