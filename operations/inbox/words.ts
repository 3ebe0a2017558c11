/** Tokenizer of the search. A word is a run of letters and digits, without case and accents. */
import { truncate } from '#runtime/values/truncate'

const longestWord = 100

/** Text without case and accents. */
export const foldText = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()

/** Distinct words of a text. */
export function extractWords(text: string | null): string[] {
  if (text === null) return []
  const words = foldText(text).match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words.map((word) => truncate(word, longestWord)))]
}

/**
 * Builds a tsquery: each word is a prefix, a word of 1 or 2 characters must match whole. Null if the search has no
 * words.
 */
export function searchToTsquery(search: string): string | null {
  const words = extractWords(search)
  return words.length === 0 ? null : wordsToTsquery(words)
}

export const wordsToTsquery = (words: readonly string[]): string =>
  words.map((word) => (isTooShortForPrefix(word) ? `'${word}'` : `'${word}':*`)).join(' & ')

/** A word of 1 or 2 characters matches only as a whole. */
export const isTooShortForPrefix = (word: string): boolean => [...word].length <= 2

const previewAtMost = 120

/** Preview of a message in a list: its text on one line, or its type. */
export function buildPreview(type: string, text: string | null): string {
  const shown = (text ?? '').replace(/\s+/g, (run) => (/[\r\n]/.test(run) ? ' ' : run)).trim()
  if (shown === '') return `[${type}]`
  const characters = [...shown]
  return characters.length > previewAtMost ? `${characters.slice(0, previewAtMost).join('')}…` : shown
}

/** Search text of a contact: the names only. */
export const buildSearchText = (names: readonly (string | null)[]): string =>
  foldText([...new Set(names.filter((name) => name !== null))].join('\n'))
