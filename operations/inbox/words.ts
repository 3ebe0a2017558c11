/** Words as the search compares them: without case and accents, runs of letters and digits. */
import { cut } from '#runtime/values/cut'

const longestWord = 100

/** Text without case and accents. */
export const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()

/** The different words of a text. */
export function wordsOf(text: string | null): string[] {
  if (text === null) return []
  const words = plain(text).match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words.map((word) => cut(word, longestWord)))]
}

/** A search as a tsquery: each word begins one of the text's; of 1 or 2 characters, it is one. Null without words. */
export function wordQuery(search: string): string | null {
  const words = wordsOf(search)
  return words.length === 0 ? null : wordQueryOf(words)
}

export const wordQueryOf = (words: readonly string[]): string =>
  words.map((word) => (isWholeWord(word) ? `'${word}'` : `'${word}':*`)).join(' & ')

/** Too short to be a beginning. */
export const isWholeWord = (word: string): boolean => [...word].length <= 2

const previewAtMost = 120

/** What a list shows of a message: its text on one line, or its type. */
export function previewOf(type: string, text: string | null): string {
  const shown = (text ?? '').replace(/\s+/g, (run) => (/[\r\n]/.test(run) ? ' ' : run)).trim()
  if (shown === '') return `[${type}]`
  const characters = [...shown]
  return characters.length > previewAtMost ? `${characters.slice(0, previewAtMost).join('')}…` : shown
}

/** What a contact is found by: the names and nothing else. */
export const searchTextOf = (names: readonly (string | null)[]): string =>
  plain([...new Set(names.filter((name) => name !== null))].join('\n'))
