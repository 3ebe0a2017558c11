/** Bounds on the size of a JSON body, counted in its text before it is parsed. */

import { getChildSchemas } from '#runtime/documents/publish'
import { refuse } from '#runtime/errors'
import { z } from '#runtime/schema'
import { shorten } from './issue-messages.ts'

export const levelsAtMost = 64
/** The limit unless the body's schema allows more values. */
export const valuesAtMost = 20_000
/** The limit of any body: enough for a file of 100,000 rows with twenty columns. */
const hardValuesAtMost = 2_000_000

const [quote, backslash, comma] = [34, 92, 44]
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125]
const space = 32

/**
 * Refuses a text with too many values or levels: a 15 MiB body may hold five million objects, and parsing them would
 * block the whole server. Reads the text once, and stops at the first value above the limit.
 */
export function refuseTooManyValues(text: string, atMost = valuesAtMost): void {
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

const noFields: ReadonlySet<string> = new Set()
const mayHoldLongNumber = /\d{16}|\d[eE]/

/**
 * Refuses numbers beyond 2^53, which JavaScript has already rounded to another number. `text`: the value's JSON. `files`:
 * the fields with a file's content, whose rows are checked later.
 */
export function refuseLongNumbers(text: string, value: unknown, files: ReadonlySet<string>): void {
  const path = mayHoldLongNumber.test(text) ? findLongNumber(value, files) : null
  if (path === null) return
  throw refuse(
    'bad_request',
    `${shorten(path.join('.') || 'body')}: must be a number up to ${Number.MAX_SAFE_INTEGER}; if it is an id or a code, send it as text`,
  )
}

/** The path of the first number beyond the largest exact one; null if there is none. */
function findLongNumber(value: unknown, except: ReadonlySet<string> = noFields): string[] | null {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER ? [] : null
  if (typeof value !== 'object' || value === null) return null
  for (const key of Object.keys(value)) {
    if (except.has(key)) continue
    const path = findLongNumber((value as Record<string, unknown>)[key])
    if (path) return [key, ...path]
  }
  return null
}

/** Returns the index of the closing quote, which follows an even number of backslashes. */
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

const valueLimits = new WeakMap<z.ZodTypeAny, number>()

/** The most values that a body of this schema can hold, between `valuesAtMost` and `hardValuesAtMost`. */
export function getValueLimit(schema: z.ZodTypeAny): number {
  let bound = valueLimits.get(schema)
  if (bound === undefined) {
    bound = Math.min(Math.max(countValues(schema), valuesAtMost), hardValuesAtMost)
    valueLimits.set(schema, bound)
  }
  return bound
}

function countValues(schema: z.ZodTypeAny): number {
  const within = getChildSchemas(schema).map(countValues)
  if (schema instanceof z.ZodObject) return within.reduce((sum, each) => sum + each, 1)
  const most = Math.max(0, ...within)
  if (schema instanceof z.ZodArray) return 1 + (schema._def.maxLength?.value ?? 0) * most
  return Math.max(1, most)
}
