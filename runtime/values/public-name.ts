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

/** A name that begins with the surname: `Souza, Ana`. */
const inverted = /^([^,，،;]+)[,，،;]\s*(\S.*)$/u
/** Titles after a comma, and forms of companies, are no given name: `Ana Souza, Jr.`, `Ana Souza, MD, PhD`. */
const suffixes =
  /^(?:(?:jr|sr|i{2,3}|iv|filho|neto|ph\.?d|m\.?d|msc|mba|esq|cpa|rn|dds|inc|llc|ltd|ltda|gmbh)\b[.,\s]*)+$/iu
const titles = /^(?:dra?|sra?|srta|mrs?|ms|profa?)\.?$/iu
const isEastern = (text: string): boolean =>
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}ー\s]+$/u.test(text)
const longSurnames = /^(?:欧阳|歐陽|司马|司馬|上官|诸葛|諸葛|慕容|皇甫|尉迟|尉遲|남궁|황보|선우|제갈)/u
const vietnamese =
  /^(?:nguyễn|trần|lê|phạm|huỳnh|hoàng|phan|vũ|võ|đặng|bùi|đỗ|hồ|ngô|dương|lý|nguyen|tran|pham|huynh|hoang|dang|bui)$/iu

interface NameParts {
  /** The first given name. Null without a name. */
  given: string | null
  /** The other words. */
  others: string[]
  /** The surname that a stranger may see the initial of. Null if it has one letter only, or there is none. */
  surname: string | null
}

/** Splits a name: the one place that decides which word of it is the given name. */
export function splitName(name: string | null | undefined): NameParts {
  const text = (name ?? '').normalize('NFC').trim()
  const [, before, after] = inverted.exec(text) ?? []
  if (before && after && !suffixes.test(after) && hasVisible(before) && hasVisible(after)) {
    const [family, [given = null, ...others]] = [splitWords(before), splitWords(after)]
    return { given, others: [...others, ...family], surname: family.at(-1)! }
  }
  const all = splitWords(before && after && suffixes.test(after) ? before : text)
  const words = all.length > 1 && titles.test(all[0]!) ? all.slice(1) : all
  const [first = null, ...others] = words
  if (first !== null && isEastern(text)) {
    const [family, given] = others.length > 0 ? [first, others.join('')] : splitEastern(first)
    return { given, others: family ? [family] : [], surname: null }
  }
  if (others.length > 0 && vietnamese.test(first!)) {
    return { given: others.at(-1)!, others: [first!, ...others.slice(0, -1)], surname: first }
  }
  return { given: first, others, surname: others.at(-1) ?? null }
}

/** Splits into words. Signs count only in a name without letters: `Ana ♥` is Ana, and 🦊 is a name. */
function splitWords(text: string): string[] {
  const words = text
    .split(/[\s・]+/u)
    .map((word) => trimEndWhile(word, (sign) => /[,，،;]/u.test(sign)))
    .filter(hasVisible)
  const lettered = words.filter((word) => /\p{L}/u.test(word))
  return lettered.length > 0 ? lettered : words
}

/** Splits a name without spaces, such as 李小龙: most surnames have one character before up to two, or two before more. */
function splitEastern(name: string): [family: string, given: string] {
  const characters = [...name]
  const kana = characters.findIndex((sign) => !/[\p{Script=Han}\p{Script=Hangul}]/u.test(sign))
  const length = kana >= 0 ? kana : characters.length > 3 || longSurnames.test(name) ? 2 : 1
  const [family, given] = [characters.slice(0, length).join(''), characters.slice(length).join('')]
  return given === '' ? ['', name] : [family, given]
}

/** The first given name; null without a name, or if the name is an email address or a phone. */
export const getGivenName = (name: string | null | undefined): string | null =>
  splitName(toPublicName(name ?? null)).given

const nobody = { en: 'Someone', 'pt-BR': 'Alguém', es: 'Alguien' }

/** The text that shoppers see instead of a name that must not be public. */
export const getAnonymousName = (locale: string): string => getText(nobody, locale)
