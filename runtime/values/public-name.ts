/** Makes people's names fit for publication. */

import { hasVisible, stripDirectionMarks, toPlainCharacters } from './confusables.ts'
import { trimEndWhile, trimStartWhile } from './trim.ts'
import { getText } from './wording.ts'

const address = /(?<!\S)\S*\s?@\s?\S*/gu
/** A phone number: seven or more digits, with separators and brackets around the area code. */
const number = /(?:\((?=\+?\d{1,4}\)))?\+?\d(?:[\s().\-/]*\d){6,}/gu
/** Text that mail programs and phones turn into a link; not a bare domain, after which some shops are named. */
const link = /(?<!\S)(?=\S*(?::\/\/|\bwww\.|[\w-]\.[a-z]{2,}[/?#:]))\S*/giu
/**
 * Characters that remain at the edges after something was removed. A mark (`\p{M}`) at the end may be a vowel: kept.
 */
const isLeadingRemnant = (sign: string): boolean => /[^\p{L}\p{N}]/u.test(sign)
const isTrailingRemnant = (sign: string): boolean => /[^\p{L}\p{M}\p{N}.!)]/u.test(sign)

/**
 * Returns the public form of a person's name; null if no name is left. Email addresses and phones are removed, since
 * platforms and forms use them as names, and links, since spammers put them there.
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

/** The text that shoppers see instead of a name that must not be public. */
export const getAnonymousName = (locale: string): string => getText(nobody, locale)
