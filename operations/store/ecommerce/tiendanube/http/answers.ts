/** Maps Tiendanube's failures to errors of the port. Messages never contain a token. */
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { truncate } from '#runtime/values/truncate'
import { BadCredentials } from './options.ts'

export interface Answer {
  status: number
  headers: Headers
  text: string
}

/** Whether a call without a usable response had an effect: a read never has one; a write may have. */
const accepted = (isRead: boolean): 'no' | 'unknown' => (isRead ? 'no' : 'unknown')

/** A full bucket leaks two requests a second. */
const throttledMs = 1000

/** The error for a non-2xx response. */
export function toError({ status, text }: Answer, isRead: boolean): Error {
  const words = findErrorText(text)
  if (status === 401) {
    return new BadCredentials('Tiendanube does not take the access token of the store: connect it again')
  }
  if (status === 402) {
    return new AccessLost(
      'shop-unpaid',
      'Tiendanube has suspended the shop, or the app in it, because a payment is due',
      "Pay what is due in the shop's administration; we go on by ourselves",
    )
  }
  if (status === 403) {
    return new Refused(
      'missing-permission',
      `Tiendanube does not let the app do this${inBrackets(words)}: give the app the permission, then connect the store again`,
    )
  }
  if (status === 404) return new Refused('not-found', `Tiendanube knows no such object${inBrackets(words)}`)
  if (status === 429) return new Throttled(throttledMs)
  if (status === 408 || status >= 500) {
    return new Unavailable(accepted(isRead), `Tiendanube answered ${status}`)
  }
  return new Refused('refused', `Tiendanube refused this${words ? `: ${words}` : ''}`)
}

export function parseJson(text: string, isRead: boolean): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Unavailable(accepted(isRead), 'Tiendanube answered what is not JSON', { cause: error })
  }
}

/** Joins `{ code, message, description }`, `{ error: 'text' }` or `{ field: ['is wrong'] }` to one line. */
function findErrorText(text: string): string {
  let body: Record<string, unknown>
  try {
    body = JSON.parse(text) as Record<string, unknown>
  } catch {
    // An HTML page of a proxy: only its status is useful.
    return ''
  }
  if (body === null || typeof body !== 'object') return ''
  const { code: _code, message, description, error, error_description, ...fields } = body
  const faults = Object.entries(fields).flatMap(([field, wrong]) =>
    Array.isArray(wrong) ? [`${field} ${wrong.join(', ')}`] : [],
  )
  const said = [error_description ?? error, description ?? (faults.length === 0 ? message : undefined)]
  const words = [...said.filter((each) => typeof each === 'string'), ...faults].join('; ')
  return truncate(words.replace(/\s+/g, ' ').trim(), 200)
}

const inBrackets = (words: string): string => (words ? ` (${words})` : '')
