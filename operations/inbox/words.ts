/**
 * Splits texts and searches into words. A word is a sequence of letters and digits, in lower case and without accents.
 */
import { truncate } from '#runtime/values/truncate'

const longestWord = 100

/** Converts a text to lower case without accents. */
export const foldText = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()

/** Returns the distinct words of a text. */
export function extractWords(text: string | null): string[] {
  if (text === null) return []
  const words = foldText(text).match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words.map((word) => truncate(word, longestWord)))]
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
  const characters = [...shown]
  return characters.length > previewAtMost ? `${characters.slice(0, previewAtMost).join('')}…` : shown
}

/** Builds the text in which a search finds a contact by name. */
export const buildSearchText = (names: readonly (string | null)[]): string =>
  foldText([...new Set(names.filter((name) => name !== null))].join('\n'))
