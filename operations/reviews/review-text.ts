/** Builds search texts, finds blocked words, and formats reviewers' names. No database. */

import { toInitial } from '#runtime/values/confusables'
import { foldText, unspacedScripts } from '#runtime/values/fold'
import { getAnonymousName, splitName, toPublicName } from '#runtime/values/public-name'
import { truncate } from '#runtime/values/truncate'

/** Builds the normalized text in which a search looks for its words. */
export const buildSearchText = (texts: readonly (string | null | undefined)[]): string =>
  truncate(foldText(texts.filter((text) => text).join('\n')), 8000)

/** Whether a text contains a blocked word or phrase. In scripts without spaces it may be anywhere within the text. */
export function hasBlockedWord(texts: readonly (string | null)[], blocked: readonly string[]): boolean {
  const within = texts.map((text) => normalizeWords(text ?? ''))
  return blocked.some((word) => {
    const looked = normalizeWords(word)
    if (looked === '') return false
    if (isUnspaced.test(looked)) return within.some((text) => joinWords(text).includes(joinWords(looked)))
    return within.some((text) => ` ${text} `.includes(` ${looked} `))
  })
}

const isUnspaced = new RegExp(`[${unspacedScripts}]`, 'u')
const joinWords = (text: string): string => text.replaceAll(' ', '')
const normalizeWords = (text: string): string =>
  foldText(text)
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()

/** Formats the reviewer's name for the storefront: `Ana Souza`, `Ana S.` or `A. S.`. Never shows an email or phone. */
export function formatReviewerName(
  name: string,
  format: 'full' | 'first-initial' | 'initials',
  locale: string,
): string {
  const shown = toPublicName(name)
  if (shown === null) return getAnonymousName(locale)
  if (format === 'full') return shown
  const { given, surname } = splitName(shown)
  const first = format === 'initials' ? toInitial(given!) : given!
  return surname === null ? first : `${first} ${toInitial(surname)}`
}
