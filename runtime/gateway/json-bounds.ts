/** What a JSON body may hold at most, counted in its text: before anything is made of it. */

import { childrenOf } from '#runtime/documents/publish'
import { refuse } from '#runtime/errors'
import { z } from '#runtime/schema'

export const levelsAtMost = 64
/** Of a body whose schema does not ask for more. */
export const valuesAtMost = 20_000
/** Of any: a file of 100,000 rows with twenty columns. */
const valuesOfAnyAtMost = 2_000_000

const [quote, backslash, comma] = [34, 92, 44]
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125]
const space = 32

/**
 * Refuses a text of too many values or levels: a body of fifteen MiB may hold five million objects, and each costs
 * the whole server time. One pass, and no further than the first value too many.
 */
export function refuseBulk(text: string, atMost = valuesAtMost): void {
  let levels = 0
  let values = 1
  let last = space
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code <= space) continue
    if (code === quote) i = endOfString(text, i)
    else if (code === comma) values += 1
    else if (code === openList || code === openObject) levels += 1
    else if (code === closeList || code === closeObject) {
      levels -= 1
      if (last !== openList && last !== openObject) values += 1
    }
    last = code
    if (levels > levelsAtMost) {
      throw refuse('bad_request', `body: is nested more than ${levelsAtMost} levels deep`)
    }
    if (values > atMost) {
      throw refuse('bad_request', `body: holds more than ${atMost} values: send it in parts`)
    }
  }
}

/** Where the text that begins here is closed: at a quote behind an even number of backslashes. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

function isEscaped(text: string, at: number): boolean {
  let before = at
  while (text.charCodeAt(before - 1) === backslash) before -= 1
  return (at - before) % 2 === 1
}

const bounds = new WeakMap<z.ZodTypeAny, number>()

/** How many values a body of this schema may hold: what it can hold, within reason. */
export function boundOf(schema: z.ZodTypeAny): number {
  let bound = bounds.get(schema)
  if (bound === undefined) {
    bound = Math.min(Math.max(valuesWithin(schema), valuesAtMost), valuesOfAnyAtMost)
    bounds.set(schema, bound)
  }
  return bound
}

function valuesWithin(schema: z.ZodTypeAny): number {
  const within = childrenOf(schema).map(valuesWithin)
  if (schema instanceof z.ZodObject) return within.reduce((sum, each) => sum + each, 1)
  const most = Math.max(0, ...within)
  if (schema instanceof z.ZodArray) return 1 + (schema._def.maxLength?.value ?? 0) * most
  return Math.max(1, most)
}
