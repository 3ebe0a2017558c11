/** Limits the length of an answer to a model: about 25,000 tokens, as clients refuse or cut longer ones. */

/** Tokenizers use about one token per three characters of JSON. */
const charactersAtMost = 75_000

export interface LimitedBody {
  body: unknown
  /** How to get the rest; absent if nothing was cut. */
  truncated?: string
}

/** Parses an answer's body. A list that is too long ends after an item; any other body is replaced by null. */
export function limitBody(text: string): LimitedBody {
  const body: unknown = text === '' ? null : JSON.parse(text)
  if (text.length <= charactersAtMost) return { body }
  const listed = body as { data?: unknown }
  if (!Array.isArray(listed?.data)) {
    return {
      body: null,
      truncated: `The answer is ${text.length} characters long, too long for a model: ask for less with the query, or read it over HTTP`,
    }
  }
  const { data, ...rest } = listed as { data: unknown[] }
  let left = charactersAtMost - JSON.stringify(rest).length
  const kept = data.filter((item) => {
    left -= left < 0 ? 0 : JSON.stringify(item).length + 1
    return left >= 0
  })
  return {
    body: { ...rest, data: kept },
    truncated: `Only the first ${kept.length} of ${data.length} items are here: call again with limit ${Math.max(1, kept.length)} and page on, or narrow the query`,
  }
}
