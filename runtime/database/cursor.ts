/** The place of a row in a list that moves: where a reader goes on, strictly after it. */
import { createHash } from 'node:crypto'
import { refuse } from '#runtime/errors'
import { databaseInstantForm } from '#runtime/values/days'
import { isId } from '#runtime/values/ids'

/** Of these filters only: a cursor of other ones is refused. */
export const fingerprintOf = (filters: object): string =>
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
 * Refuses what is no cursor of this list with these filters. `parts`: how many texts it holds, of which the last two
 * are an instant as the database writes it and an id.
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
  if (!databaseInstantForm.test(read.at(-2)!) || !isId(read.at(-1)!)) throw wrong
  return read.slice(1) as string[]
}

/** Base64 of a JSON array, in the URL's alphabet. */
export const writeCursor = (fingerprint: string, parts: readonly string[]): string =>
  Buffer.from(JSON.stringify([fingerprint, ...parts])).toString('base64url')
