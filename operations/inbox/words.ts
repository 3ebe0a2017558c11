/**
 * Splits texts and searches into folded words. A word is a sequence of letters and digits; in scripts without spaces it
 * is each character and each two adjacent ones, so that a search finds any part of a sentence.
 */
import { foldText, unspacedScripts } from '#runtime/values/fold'
import { truncate } from '#runtime/values/truncate'

const longestWord = 100
const words = new RegExp(`[${unspacedScripts}]+|(?:(?![${unspacedScripts}])[\\p{L}\\p{M}\\p{N}])+`, 'gu')
const isUnspaced = new RegExp(`^[${unspacedScripts}]`, 'u')

/** Returns the distinct words of a text. */
export function extractWords(text: string | null): string[] {
  if (text === null) return []
  const found = foldText(text).match(words) ?? []
  return [...new Set(found.flatMap((word) => (isUnspaced.test(word) ? splitUnspaced(word) : cut(word))))]
}

const cut = (word: string): string => truncate(word, longestWord)

function splitUnspaced(word: string): string[] {
  const signs = [...word]
  return signs.flatMap((sign, at) => (at === 0 ? [sign] : [sign, `${signs[at - 1]}${sign}`]))
}

/**
 * Builds a tsquery that matches texts with all words of the search: each as the beginning of a word, or, if it has only 1
 * or 2 characters, as a whole word. Null if the search has no words.
 */
export function searchToTsquery(search: string): string | null {
  const words = extractWords(search)
  return words.length === 0 ? null : wordsToTsquery(words)
}

export const wordsToTsquery = (words: readonly string[]): string =>
  words.map((word) => (isTooShortForPrefix(word) ? `'${word}'` : `'${word}':*`)).join(' & ')

/** Whether a word has only 1 or 2 characters, and so matches only whole words. */
export const isTooShortForPrefix = (word: string): boolean => [...word].length <= 2

const previewAtMost = 120

/** Builds the preview of a message in a list: its text on one line, or its type, such as `[image]`. */
export function buildPreview(type: string, text: string | null): string {
  const shown = (text ?? '').replace(/\s+/g, (run) => (/[\r\n]/.test(run) ? ' ' : run)).trim()
  if (shown === '') return `[${type}]`
  const begin = truncate(shown, previewAtMost)
  return begin.length < shown.length ? `${begin}…` : shown
}

/** Builds the text in which a search finds a contact by name. */
export const buildSearchText = (names: readonly (string | null)[]): string =>
  foldText([...new Set(names.filter((name) => name !== null))].join('\n'))
