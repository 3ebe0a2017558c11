/** Names that everybody may read. */
import { inPlainSigns, isSeen } from './signs.ts'
import { said } from './wording.ts'

const address = /\S*\s?@\s?\S*/gu
/** Seven digits or more, as a phone has them: with what stands between. */
const number = /\+?\d(?:[\s().\-/]*\d){6,}/gu
/** What is left over where something was taken out. */
const edges = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}.!)]+$/gu

/**
 * What the public may read of a person's name: without an email address or a phone, which platforms and forms put in
 * its place; null where nothing is left that names anybody.
 */
export function publicName(name: string | null): string | null {
  if (name === null || !isSeen(name)) return null
  const plain = inPlainSigns(name)
  const left = plain.replace(address, ' ').replace(number, ' ')
  if (left === plain) return name.trim() || null
  const told = left
    .replace(/[([{<]\s*[)\]}>]/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(edges, '')
    .trim()
  return /\p{L}/u.test(told) ? told : null
}

const nobody = { en: 'Someone', 'pt-BR': 'Alguém', es: 'Alguien' }

/** Whom shoppers read of where a name is nobody's to read. */
export const someone = (locale: string): string => said(nobody, locale)
