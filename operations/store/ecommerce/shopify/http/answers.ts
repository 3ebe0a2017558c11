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

/** The error for a non-2xx response. A 404 means that the shop does not exist. */
export function toError({ status, headers, text }: Answer, isRead: boolean): Error {
  if (status === 401) {
    return new BadCredentials('Shopify does not take the access token of the store: connect it again')
  }
  const words = findErrorText(text)
  if (status === 403 && isPermissionError(words)) return noPermission(inBrackets(words))
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

export interface Cost {
  requestedQueryCost: number
  throttleStatus: { currentlyAvailable: number; maximumAvailable: number; restoreRate: number }
}

interface GraphError {
  message?: string
  path?: (string | number)[]
  extensions?: { code?: string }
}

interface GraphAnswer {
  data?: unknown
  errors?: GraphError[] | string
  extensions?: { cost?: Cost }
}

/**
 * Returns the data of a GraphQL response, and its cost. Throws its errors; input errors of a mutation are part of the data
 * instead. `isPartial`: fields that the app may not see are null.
 */
export function parseGraphAnswer(
  text: string,
  { isRead, isPartial }: { isRead: boolean; isPartial: boolean },
): { data: unknown; cost: Cost | undefined } {
  const { data, errors, extensions } = parseJson(text, isRead) as GraphAnswer
  const cost = extensions?.cost
  const all = typeof errors === 'string' ? [{ message: errors }] : (errors ?? [])
  const isWithheld = isPartial && all.every((error) => isDenied(error) && (error.path?.length ?? 0) > 1)
  if (all.length === 0 || (isWithheld && data)) {
    if (data === undefined || data === null) {
      throw new Unavailable(accepted(isRead), 'Shopify answered nothing')
    }
    return { data, cost }
  }
  const codes = all.map(({ extensions: its }) => its?.code)
  const words = oneLine(all.map(({ message }) => message ?? '').join('; '))
  if (codes.includes('THROTTLED')) throw toThrottled(cost)
  if (all.some(isDenied)) throw noPermission(inBrackets(words))
  if (codes.includes('INTERNAL_SERVER_ERROR')) throw new Unavailable(accepted(isRead), 'Shopify failed')
  if (/invalid cursor/i.test(words)) {
    throw new Refused('bad-cursor', 'cursor: Shopify no longer knows it, leave it out to start again')
  }
  // The shop is closed, or this API version no longer supports the query. The call had no effect.
  throw new Unavailable('no', `Shopify does not answer this: ${words}`)
}

const isDenied = ({ message = '', extensions }: GraphError): boolean =>
  extensions?.code === 'ACCESS_DENIED' || message.startsWith('This app is not approved to')

function toThrottled(cost: Cost | undefined): Throttled {
  const { requestedQueryCost = 0, throttleStatus } = cost ?? {}
  const missing = requestedQueryCost - (throttleStatus?.currentlyAvailable ?? 0)
  const rate = throttleStatus?.restoreRate ?? 0
  return new Throttled(rate > 0 && missing > 0 ? Math.ceil((missing / rate) * 1000) : 1000)
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
