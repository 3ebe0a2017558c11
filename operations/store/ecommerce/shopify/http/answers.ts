/** What Shopify answers instead of success, in our words. None of it has a token in it. */

import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { cut } from '#runtime/values/cut'
import { BadCredentials } from './options.ts'

export interface Answer {
  status: number
  headers: Headers
  text: string
}

/** A write may have taken effect where no answer tells. */
const accepted = (isRead: boolean): 'no' | 'unknown' => (isRead ? 'no' : 'unknown')

const noPermission = (why: string) =>
  new Refused(
    'missing-permission',
    `Shopify does not let the app do this${why}: give the app the permission, then connect the store again`,
  )

/**
 * What Shopify answers for a shop that nobody may use now: frozen for its bill, locked for what happened in it, gone.
 * It stays so until its owner acts.
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

const isOfPermission = (words: string): boolean => /scope|approval|permission|access denied/i.test(words)

/** Of an answer that is not 2xx. `names`: the call names an object, which may be unknown; else a 404 is of the shop. */
export function failureOf({ status, headers, text }: Answer, isRead: boolean, names = true): Error {
  if (status === 401) {
    return new BadCredentials('Shopify does not take the access token of the store: connect it again')
  }
  const words = wordsOf(text)
  if (status === 403 && isOfPermission(words)) return noPermission(inBrackets(words))
  if (status === 404 && names) return new Refused('not-found', 'Shopify knows no such object')
  const closed = closedShops[status]
  if (closed) return new AccessLost(closed.code, `${closed.message}${inBrackets(words)}`, closed.remedy)
  if (status === 429) return new Throttled(retryAfterMs(headers.get('retry-after')))
  if (status === 408 || status >= 500) {
    return new Unavailable(accepted(isRead), `Shopify answered ${status}`)
  }
  return refusal(words)
}

/** Shopify refused it, for this reason. */
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

/** The data of a GraphQL answer. Throws what its errors say; those of a mutation's input are in its data. */
export function graphData(text: string, isRead: boolean): unknown {
  const { data, errors, extensions } = jsonOf(text, isRead) as GraphAnswer
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
  // A shop that is closed, or a question that this version no longer understands: nothing was done.
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

/** Throws `Refused` for what a mutation says is wrong with its input. */
export function requireNoErrors(errors: readonly UserError[]): void {
  if (errors.length > 0) throw refusal(oneLine(errors.map(({ message }) => message).join('; ')))
}

/** Seconds, as Shopify writes them (`2.0`); one where it says nothing that can be read. */
function retryAfterMs(header: string | null): number {
  const seconds = Number(header)
  return header !== null && Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds * 1000) : 1000
}

export function jsonOf(text: string, isRead: boolean): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Unavailable(accepted(isRead), 'Shopify answered what is not JSON', { cause: error })
  }
}

/** `{ errors: 'text' }` or `{ errors: { field: ['is wrong'] } }`, as one line. */
function wordsOf(text: string): string {
  let errors: unknown
  try {
    const body = JSON.parse(text) as { errors?: unknown; error?: unknown; error_description?: unknown }
    errors = body.errors ?? body.error_description ?? body.error
  } catch {
    // A page of something in between: its status says all there is to say.
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
const oneLine = (text: string): string => cut(text.replace(/\s+/g, ' ').trim(), 200)
