/** Characters that look like others, or like nothing: what people copy along with a number or an address. */

const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** Hyphens and minus signs of any kind; NFKC has made ASCII of some before. */
const dashes = /[\p{Pd}\u2043\u2212\u02d7\u30fc]/gu
const spaces = /\s/gu
const digit = /\p{Nd}/u
const digits = /[^\P{Nd}0-9]/gu

const seenSign = /[^\s\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Whether a text shows anything: blanks, and marks without width, do not. */
export const isSeen = (text: string): boolean => seenSign.test(text)

/** A name without blanks around it; null for one that shows nothing, as people give themselves at networks. */
export const seen = (name: string | null | undefined): string | null =>
  name && isSeen(name) ? name.trim() : null

/** Without what cannot be seen: marks of direction, joiners, soft hyphens, a byte order mark. */
export const visible = (text: string): string => text.replace(invisible, '')

/** Without what turns the rest of a line around, whoever wrote the rest. */
export const unturned = (text: string): string => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')

/** `A.` of a word that shows something, whatever stands unseen before it. */
export const initialOf = (word: string): string =>
  `${String.fromCodePoint(visible(word).codePointAt(0)!).toUpperCase()}.`

/** Visible characters with ASCII for digits, hyphens, spaces and what has a narrow or plain form. */
export const inPlainSigns = (text: string): string =>
  visible(visible(text).normalize('NFKC')).replace(dashes, '-').replace(spaces, ' ').replace(digits, digitOf)

/** Digits of a script stand beside each other in tens, zero first. */
function digitOf(sign: string): string {
  const at = sign.codePointAt(0)!
  let begins = at
  while (digit.test(String.fromCodePoint(begins - 1))) begins -= 1
  return String((at - begins) % 10)
}
