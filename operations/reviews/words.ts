/** Words of reviews: looked for, blocked, and names as shoppers see them. No database. */
import { cut } from '#runtime/values/cut'
import { plainForm } from '#runtime/values/plain-form'
import { publicName, someone } from '#runtime/values/public-name'
import { initialOf, isSeen, visible } from '#runtime/values/signs'

/** What a search looks in. */
export const searchText = (texts: readonly (string | null | undefined)[]): string =>
  cut(plainForm(texts.filter((text) => text).join('\n')), 8000)

/** Whether one of the texts has a blocked word, as a whole word or run of words; marks that nobody sees part none. */
export function hasBlockedWord(texts: readonly (string | null)[], blocked: readonly string[]): boolean {
  const within = texts.map((text) => ` ${wordsOf(text ?? '')} `)
  return blocked.some((word) => {
    const looked = wordsOf(word)
    return looked !== '' && within.some((text) => text.includes(` ${looked} `))
  })
}

const wordsOf = (text: string): string =>
  plainForm(visible(text))
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** `Ana` of `Ana Souza`; null where there is no name. */
export const firstName = (name: string | null): string | null => name?.split(/\s+/).find(isSeen) ?? null

/** A name as the widget shows it: `Ana Souza`, `Ana S.` or `A. S.`; nobody's email or phone. */
export function shownName(
  name: string,
  format: 'full' | 'first-initial' | 'initials',
  locale: string,
): string {
  const shown = publicName(name)
  if (shown === null) return someone(locale)
  if (format === 'full') return shown
  const words = shown.split(/\s+/).filter(isSeen)
  const last = words.length > 1 ? words.at(-1)! : null
  if (format === 'initials')
    return [words[0]!, last].flatMap((word) => (word ? [initialOf(word)] : [])).join(' ')
  return last ? `${words[0]} ${initialOf(last)}` : words[0]!
}
