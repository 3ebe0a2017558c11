/** Names that everybody may read. */
import { withoutEnd, withoutStart } from './ends.ts'
import { inPlainSigns, isSeen, unturned } from './signs.ts'
import { said } from './wording.ts'

const address = /(?<!\S)\S*\s?@\s?\S*/gu
/** Seven digits or more, as a phone has them: with what stands between, and the brackets of its area. */
const number = /(?:\((?=\+?\d{1,4}\)))?\+?\d(?:[\s().\-/]*\d){6,}/gu
/** What mail programs and phones make a link of, with more than a domain: shops have names that are one. */
const link = /(?<!\S)(?=\S*(?::\/\/|\bwww\.|[\w-]\.[a-z]{2,}[/?#:]))\S*/giu
/** What is left over at an edge where something was taken out. Names of many scripts end with a mark, which is a vowel. */
const isLeftBefore = (sign: string): boolean => /[^\p{L}\p{N}]/u.test(sign)
const isLeftBehind = (sign: string): boolean => /[^\p{L}\p{M}\p{N}.!)]/u.test(sign)

/**
 * What the public may read of a person's name: without an email address or a phone, which platforms and forms put in
 * its place, or a link, which strangers have others sent; null where nothing is left that names anybody.
 */
export function publicName(name: string | null): string | null {
  if (name === null || !isSeen(name)) return null
  const plain = inPlainSigns(name)
  const left = plain.replace(link, ' ').replace(address, ' ').replace(number, ' ')
  if (left === plain) return unturned(name).trim()
  const plainer = left.replace(/[([{<]\s*[)\]}>]/g, ' ').replace(/\s+/g, ' ')
  const told = withoutEnd(withoutStart(plainer, isLeftBefore), isLeftBehind)
  return /\p{L}/u.test(told) ? told : null
}

const nobody = { en: 'Someone', 'pt-BR': 'Alguém', es: 'Alguien' }

/** Whom shoppers read of where a name is nobody's to read. */
export const someone = (locale: string): string => said(nobody, locale)
