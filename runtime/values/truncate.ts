/** Measures and truncates texts. Lengths are counted in code points, as `maxLength` of the published schemas counts. */
import { graphemes } from './localized.ts'

/** Longer than any grapheme that people write. */
const longestGrapheme = 64

export function countCharacters(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length - 1; at += 1) {
    if (text.codePointAt(at)! <= 0xffff) continue
    count -= 1
    at += 1
  }
  return count
}

/**
 * Truncates a text to at most so many code points, never within a grapheme: readers would see another character, and
 * PostgreSQL refuses JSON with half of one. Marks stacked without end are cut.
 */
export function truncate(text: string, atMost: number): string {
  if (text.length <= atMost) return text
  let end = 0
  for (let count = 0; count < atMost && end < text.length; count += 1) {
    end += text.codePointAt(end)! > 0xffff ? 2 : 1
  }
  if (end === text.length) return text
  const cut = graphemes.segment(text.slice(0, end + longestGrapheme)).containing(end)?.index ?? end
  return text.slice(0, end - cut < longestGrapheme ? cut : end)
}

/** Returns the graphemes of a text: what a reader sees as one character. */
export const splitGraphemes = (text: string): string[] =>
  Array.from(graphemes.segment(text), ({ segment }) => segment)

/** Splits a long text into pieces of `length` units, or one more where a piece would end within a character. */
export function* splitText(text: string, length: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = at + length + ((text.codePointAt(at + length - 1) ?? 0) > 0xffff ? 1 : 0)
    yield text.slice(at, end)
    at = end
  }
}
