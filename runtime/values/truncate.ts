/**
 * Truncates a text. Never splits a character: PostgreSQL's JSON refuses a lone surrogate, with everything that is
 * written along with it, and readers see a character that nobody wrote.
 */
export const truncate = (text: string, atMost: number): string =>
  text.length <= atMost ? text : text.slice(0, atMost - (splitsCharacter(text, atMost) ? 1 : 0))

/** Splits a long text into pieces of this length, or one more. */
export function* splitText(text: string, length: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = at + length + (splitsCharacter(text, at + length) ? 1 : 0)
    yield text.slice(at, end)
    at = end
  }
}

/** Whether a cut at this position splits a character. */
const splitsCharacter = (text: string, at: number): boolean => (text.codePointAt(at - 1) ?? 0) > 0xffff
