/** Cursors of paginated lists. A cursor encodes the position of the last row; the next page begins after that row. */
import { createHash } from 'node:crypto'
import { refuse } from '#runtime/errors'
import { databaseInstantPattern } from '#runtime/values/days'
import { isId } from '#runtime/values/ids'

/** A hash of a list's filters. It is part of the cursor: with other filters the cursor is refused. */
export const fingerprintFilters = (filters: object): string =>
  createHash('sha256')
    .update(
      JSON.stringify(
        Object.entries(filters)
          .filter(([, value]) => value !== undefined)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
    )
    .digest('base64url')
    .slice(0, 16)

/**
 * Parses a cursor; refuses one of another list or of other filters. `parts`: the number of texts in it. The last two
 * are an instant, in the database's text format, and an id.
 */
export function readCursor(cursor: string, fingerprint: string, parts: number): string[] {
  const wrong = refuse(
    'bad_request',
    'cursor: is not one of this list with these filters: begin again without it',
  )
  let read: unknown
  try {
    read = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    throw wrong
  }
  if (!Array.isArray(read) || read.length !== parts + 1 || read[0] !== fingerprint) throw wrong
  if (!read.every((part) => typeof part === 'string')) throw wrong
  if (!databaseInstantPattern.test(read.at(-2)!) || !isId(read.at(-1)!)) throw wrong
  return read.slice(1) as string[]
}

/** Encodes a cursor: base64url of a JSON array. */
export const writeCursor = (fingerprint: string, parts: readonly string[]): string =>
  Buffer.from(JSON.stringify([fingerprint, ...parts])).toString('base64url')
