/**
 * Normalizes texts for comparison. `foldText` ignores case, accents, invisible characters and repeated spaces: for
 * searches and unique names; the SQL function `fold_text` of migration 0069 does the same. `toSeenText` keeps case and
 * accents: for options that must look different.
 */
import { stripInvisible } from './confusables.ts'

/** Accents, Hebrew and Arabic points, and invisible characters. Vowel signs of other scripts distinguish words: kept. */
const accents = String.raw`\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061c\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u2800\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}`
const unseen = new RegExp(`[${accents}]+`, 'gu')
/** Lower-case characters that Unicode does not decompose, and what people type instead. */
const special = 'łđðøıħŧŋĸς٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹‐‑‒–—―−‘’‛ʼʹ“”‟'
const plain = "lddoihtnkσ01234567890123456789-------'''''\"\"\""
const ligatures = { ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th' }
const typed: ReadonlyMap<string, string> = new Map([
  ...[...special].map((sign, at): [string, string] => [sign, plain[at]!]),
  ...Object.entries(ligatures),
])
const untyped = new RegExp(`[${[...typed.keys()].join('')}]`, 'gu')
const isAscii = /^[!-~]*$/

export const foldText = (text: string): string =>
  isAscii.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKD')
        .replace(unseen, '')
        // Composes Hangul again, so that a first letter alone does not match a whole syllable.
        .normalize('NFC')
        .toLowerCase()
        .replace(untyped, (sign) => typed.get(sign)!)
        .replace(/[\s\u0085]+/gu, ' ')
        .trim()

/** Scripts that are written without spaces between words, for a character class. */
export const unspacedScripts = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script=${script}}`)
  .concat('ー')
  .join('')

/** The distinct folded words of a search, the longest first. A leading `#` is dropped: `#1001`. */
export const toSearchWords = (search: string): string[] =>
  [...new Set(foldText(search).split(' '))]
    .map((word) => word.replace(/^#+(?=.)/u, ''))
    .filter((word) => word !== '')
    .sort((one, other) => other.length - one.length)

/** Whether the texts together contain all words of a search, in any order. */
export function containsWords(texts: readonly (string | null)[], words: readonly string[]): boolean {
  const within = foldText(texts.filter((text) => text !== null).join(' '))
  return words.length > 0 && words.every((word) => within.includes(word))
}

/** Reduces a text to what a reader sees: case and accents count, invisible characters and the number of spaces do not. */
export const toSeenText = (text: string): string =>
  stripInvisible(text.normalize('NFC'))
    .replace(/[\s\u0085]+/gu, ' ')
    .trim()

export const isSeenAs = (one: string, other: string): boolean => toSeenText(one) === toSeenText(other)

/** Returns the index of the first text that is that looks the same as an earlier one; -1 if all differ. */
export function findRepeated(texts: readonly string[]): number {
  const seen = texts.map(toSeenText)
  return seen.findIndex((text, at) => seen.indexOf(text) !== at)
}
