/** Handles confusable and invisible characters, which people copy along with a number or an address. */

import { splitGraphemes } from './truncate.ts'

const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** Hyphens and minus signs of any kind; NFKC has converted some to ASCII before. */
const dashes = /[\p{Pd}\u2043\u2212\u02d7\u30fc]/gu
const spaces = /\s/gu
const digit = /\p{Nd}/u
const digits = /[^\P{Nd}0-9]/gu

const visibleCharacter = /[^\s\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Whether a text has a visible character: blanks and zero-width characters are not. */
export const hasVisible = (text: string): boolean => visibleCharacter.test(text)

/** Trims a name; null if it has no visible character, as some names on social networks have none. */
export const trimVisible = (name: string | null | undefined): string | null =>
  name && hasVisible(name) ? name.trim() : null

/** Removes invisible characters: direction marks, joiners, soft hyphens, a byte order mark. */
export const stripInvisible = (text: string): string => text.replace(invisible, '')

/** Removes direction overrides, which would reverse the rest of a line. */
export const stripDirectionMarks = (text: string): string => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')

/** Returns the first visible grapheme of a word as an initial: `A.`. */
export const toInitial = (word: string): string =>
  `${(splitGraphemes(word).find(hasVisible) ?? '').toUpperCase()}.`

/** Normalizes a text: NFKC, without invisible characters, with ASCII digits, hyphens and spaces. */
export const toPlainCharacters = (text: string): string =>
  stripInvisible(stripInvisible(text).normalize('NFKC'))
    .replace(dashes, '-')
    .replace(spaces, ' ')
    .replace(digits, toAsciiDigit)

/** Converts a digit of any script: the digits of a script are ten adjacent code points, beginning with zero. */
function toAsciiDigit(sign: string): string {
  const at = sign.codePointAt(0)!
  let begins = at
  while (digit.test(String.fromCodePoint(begins - 1))) begins -= 1
  return String((at - begins) % 10)
}
