/**
 * The beginning of a text, so long at most. Never half of a character: PostgreSQL's JSON refuses one, and all that is
 * written along with it, and whoever reads it elsewhere sees a sign that nobody wrote.
 */
export const cut = (text: string, atMost: number): string =>
  text.length <= atMost ? text : text.slice(0, atMost - (isHalved(text, atMost) ? 1 : 0))

/** The pieces of a long text, together the whole of it; of this length, or one more. */
export function* piecesOf(text: string, length: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = at + length + (isHalved(text, at + length) ? 1 : 0)
    yield text.slice(at, end)
    at = end
  }
}

/** Whether a cut at this place goes through a character. */
const isHalved = (text: string, at: number): boolean => (text.codePointAt(at - 1) ?? 0) > 0xffff
