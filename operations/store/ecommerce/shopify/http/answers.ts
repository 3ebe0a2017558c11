/** Maps Shopify's failures to errors of the port. Messages never contain a token. */

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

const noPermission = (why: string) =>
  new Refused(
    'missing-permission',
    `Shopify does not let the app do this${why}: give the app the permission, then connect the store again`,
  )

/**
 * Status codes of a shop that cannot be used until its owner acts: unpaid, locked or gone.
 */
const closedShops: Readonly<Record<number, { code: string; message: string; remedy: string }>> = {
  402: {
    code: 'shop-frozen',
    message: 'Shopify has frozen the shop',
    remedy: "Pay what is due in the shop's administration; we go on by ourselves",
  },
  403: {
    code: 'access-forbidden',
    message: 'Shopify does not let the app into the shop',
    remedy: "See in the shop's administration whether the app may be used, and connect the store again",
  },
  404: {
    code: 'shop-unknown',
    message: 'Shopify knows no such shop',
    remedy: 'See whether the shop still exists, and connect the store to the one that does',
  },
  423: {
    code: 'shop-locked',
    message: 'Shopify has locked the shop',
    remedy: "Follow what Shopify says in the shop's administration; we go on by ourselves",
  },
}

const isPermissionError = (words: string): boolean => /scope|approval|permission|access denied/i.test(words)

/**
 * The error for a non-2xx response. `names`: whether the call names an object that may not exist; if not, a 404 means that
 * the shop does not exist.
 */
export function toError({ status, headers, text }: Answer, isRead: boolean, names = true): Error {
  if (status === 401) {
    return new BadCredentials('Shopify does not take the access token of the store: connect it again')
  }
  const words = findErrorText(text)
  if (status === 403 && isPermissionError(words)) return noPermission(inBrackets(words))
  if (status === 404 && names) return new Refused('not-found', 'Shopify knows no such object')
  const closed = closedShops[status]
  if (closed) return new AccessLost(closed.code, `${closed.message}${inBrackets(words)}`, closed.remedy)
  if (status === 429) return new Throttled(retryAfterMs(headers.get('retry-after')))
  if (status === 408 || status >= 500) {
    return new Unavailable(accepted(isRead), `Shopify answered ${status}`)
  }
  return refusal(words)
}

const refusal = (why: string): Refused =>
  new Refused('refused', `Shopify refused this${why ? `: ${why}` : ''}`)

interface GraphAnswer {
  data?: unknown
  errors?: { message?: string; extensions?: { code?: string } }[] | string
  extensions?: {
    cost?: {
      requestedQueryCost?: number
      throttleStatus?: { currentlyAvailable: number; restoreRate: number }
    }
  }
}

/** Returns the data of a GraphQL response. Throws its errors; input errors of a mutation are part of the data instead. */
export function parseGraphData(text: string, isRead: boolean): unknown {
  const { data, errors, extensions } = parseJson(text, isRead) as GraphAnswer
  if (!errors || errors.length === 0) {
    if (data === undefined || data === null) {
      throw new Unavailable(accepted(isRead), 'Shopify answered nothing')
    }
    return data
  }
  const all = typeof errors === 'string' ? [{ message: errors }] : errors
  const codes = all.map((error) => ('extensions' in error ? error.extensions?.code : undefined))
  const words = oneLine(all.map(({ message }) => message ?? '').join('; '))
  if (codes.includes('THROTTLED')) return throttled(extensions?.cost)
  if (codes.includes('ACCESS_DENIED')) throw noPermission(inBrackets(words))
  if (codes.includes('INTERNAL_SERVER_ERROR')) throw new Unavailable(accepted(isRead), 'Shopify failed')
  // The shop is closed, or this API version no longer supports the query. The call had no effect.
  throw new Unavailable('no', `Shopify does not answer this: ${words}`)
}

function throttled(cost: NonNullable<GraphAnswer['extensions']>['cost']): never {
  const { requestedQueryCost = 0, throttleStatus } = cost ?? {}
  const missing = requestedQueryCost - (throttleStatus?.currentlyAvailable ?? 0)
  const rate = throttleStatus?.restoreRate ?? 0
  throw new Throttled(rate > 0 && missing > 0 ? Math.ceil((missing / rate) * 1000) : 1000)
}

export interface UserError {
  field?: string[] | null
  message: string
  code?: string | null
}

/** Throws `Refused` with the input errors of a mutation. */
export function requireNoErrors(errors: readonly UserError[]): void {
  if (errors.length > 0) throw refusal(oneLine(errors.map(({ message }) => message).join('; ')))
}

/** Converts a header in seconds, such as `2.0`; 1 second if it is missing or invalid. */
function retryAfterMs(header: string | null): number {
  const seconds = Number(header)
  return header !== null && Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds * 1000) : 1000
}

export function parseJson(text: string, isRead: boolean): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Unavailable(accepted(isRead), 'Shopify answered what is not JSON', { cause: error })
  }
}

/** Joins `{ errors: 'text' }` or `{ errors: { field: ['is wrong'] } }` to one line. */
function findErrorText(text: string): string {
  let errors: unknown
  try {
    const body = JSON.parse(text) as { errors?: unknown; error?: unknown; error_description?: unknown }
    errors = body.errors ?? body.error_description ?? body.error
  } catch {
    // An HTML page of a proxy: only its status is useful.
    return ''
  }
  if (typeof errors === 'string') return oneLine(errors)
  if (errors === null || typeof errors !== 'object') return ''
  return oneLine(
    Object.entries(errors)
      .map(([field, faults]) => `${field} ${Array.isArray(faults) ? faults.join(', ') : String(faults)}`)
      .join('; '),
  )
}

const inBrackets = (words: string): string => (words ? ` (${words})` : '')
const oneLine = (text: string): string => truncate(text.replace(/\s+/g, ' ').trim(), 200)
