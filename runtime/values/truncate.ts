/**
 * Truncates a text without splitting a character. A split one is a lone surrogate: PostgreSQL refuses JSON that
 * contains it, and readers see a wrong character.
 */
export const truncate = (text: string, atMost: number): string =>
  text.length <= atMost ? text : text.slice(0, atMost - (splitsCharacter(text, atMost) ? 1 : 0))

/** Splits a long text into pieces of `length` units, or one more where a piece would end within a character. */
export function* splitText(text: string, length: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = at + length + (splitsCharacter(text, at + length) ? 1 : 0)
    yield text.slice(at, end)
    at = end
  }
}

/** Whether a cut at this position splits a character. */
const splitsCharacter = (text: string, at: number): boolean => (text.codePointAt(at - 1) ?? 0) > 0xffff
