/** Builds search texts, finds blocked words, and formats reviewers' names. No database. */

import { hasVisible, stripInvisible, toInitial } from '#runtime/values/confusables'
import { normalizeText } from '#runtime/values/normalize'
import { getAnonymousName, toPublicName } from '#runtime/values/public-name'
import { truncate } from '#runtime/values/truncate'

/** Builds the normalized text in which a search looks for its words. */
export const buildSearchText = (texts: readonly (string | null | undefined)[]): string =>
  truncate(normalizeText(texts.filter((text) => text).join('\n')), 8000)

/** Whether a text contains a blocked word or phrase. Invisible characters inside a word are ignored. */
export function hasBlockedWord(texts: readonly (string | null)[], blocked: readonly string[]): boolean {
  const within = texts.map((text) => ` ${normalizeWords(text ?? '')} `)
  return blocked.some((word) => {
    const looked = normalizeWords(word)
    return looked !== '' && within.some((text) => text.includes(` ${looked} `))
  })
}

const normalizeWords = (text: string): string =>
  normalizeText(stripInvisible(text))
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The first name, such as `Ana` for `Ana Souza`; null without a name. */
export const getFirstName = (name: string | null): string | null =>
  name?.split(/\s+/).find(hasVisible) ?? null

/** Formats the reviewer's name for the storefront: `Ana Souza`, `Ana S.` or `A. S.`. Never shows an email or phone. */
export function formatReviewerName(
  name: string,
  format: 'full' | 'first-initial' | 'initials',
  locale: string,
): string {
  const shown = toPublicName(name)
  if (shown === null) return getAnonymousName(locale)
  if (format === 'full') return shown
  const words = shown.split(/\s+/).filter(hasVisible)
  const last = words.length > 1 ? words.at(-1)! : null
  if (format === 'initials')
    return [words[0]!, last].flatMap((word) => (word ? [toInitial(word)] : [])).join(' ')
  return last ? `${words[0]} ${toInitial(last)}` : words[0]!
}
