/**
 * Maps the Cloud API's errors by error code instead of HTTP status, as its documentation requires. Error messages about
 * access are never passed on, because they can contain the token.
 */

import {
  AccessLost,
  NumberLimit,
  RecipientThrottled,
  Refused,
  Throttled,
  Unavailable,
} from '#runtime/ports/errors'
import { truncate } from '#runtime/values/truncate'
import { toFailure } from '../hook-body.ts'

export interface GraphError {
  status: number
  code: number
  subcode: number | null
  message: string
  /** From `Retry-After` or the account's usage. */
  retryAfterMs: number | null
}

/** The party that can fix a token: the merchant, or the operator of this server. */
export type TokenOwner = 'merchant' | 'operator'

const isBetween = (code: number, from: number, to: number): boolean => code >= from && code <= to

/** Whether the token is invalid, or does not allow this call (any more). */
export const isAboutAccess = ({ code }: GraphError): boolean =>
  code === 0 || code === 3 || code === 10 || code === 190 || code === 131005 || isBetween(code, 200, 299)

const throttling: Readonly<Record<number, number>> = {
  4: 60_000,
  80007: 60_000,
  // Limits of an account, and of a template.
  80008: 60_000,
  80012: 60_000,
  130429: 2_000,
  133016: 60_000,
}
/** A number may write to one person every six seconds. */
const pairLimit = 131056
const pairMs = 6_000
/** Errors of the service itself, after which the message may have been accepted. */
const indeterminateCodes = new Set([1, 2, 131000, 131016, 131057, 133004])

/** Maps the error of a send. */
export function toSendError(error: GraphError, owner: TokenOwner = 'merchant'): Error {
  const { code, subcode, status, retryAfterMs, message } = error
  const isGone = code === 100 && subcode === 33
  const failure = toFailure(isGone ? 33 : code)
  // The provider's own message says more about a template.
  if (failure?.code === 'template-refused' && isBetween(code, 132000, 132999))
    return new Refused(failure.code, redactTokens(message))
  if (failure?.code === 'number-limit') return new NumberLimit(failure.message)
  if (failure) return new Refused(failure.code, failure.message)
  if (isAboutAccess(error)) return toAccessLost(error, owner)
  if (code === pairLimit) {
    return new RecipientThrottled(
      retryAfterMs ?? pairMs,
      'The network takes no more for this person just now',
    )
  }
  const wait = throttling[code]
  if (wait !== undefined || status === 429) return new Throttled(retryAfterMs ?? wait ?? 2_000)
  if (status >= 500 || indeterminateCodes.has(code)) {
    return new Unavailable('unknown', 'The provider failed and did not say whether it took the message')
  }
  return new Refused('provider-error', redactTokens(message))
}

export const isThrottled = ({ code, status }: GraphError): boolean =>
  throttling[code] !== undefined || status === 429

/** Maps the error of any other call: a 4xx about the request is refused, everything else may be retried. */
export function toCallError(error: GraphError, owner: TokenOwner = 'merchant'): Error {
  const { code, status, message, retryAfterMs } = error
  if (isAboutAccess(error)) return toAccessLost(error, owner)
  if (isThrottled(error)) {
    const slower = new Throttled(retryAfterMs ?? throttling[code] ?? 2_000)
    return new Unavailable('no', slower.message, { cause: slower })
  }
  if (status >= 500 || indeterminateCodes.has(code)) {
    return new Unavailable('unknown', 'The provider is not working')
  }
  return new Refused(`whatsapp-${code}`, redactTokens(message))
}

const remedies: Readonly<Record<TokenOwner, string>> = {
  merchant: 'Connect the official number again, and grant the app all that it asks for',
  operator: 'Put a token that holds into MESSAGING_URL, of a system user who may use the number',
}

/** Builds the error of a call that failed for lack of access; calls keep failing until the token's owner acts. */
function toAccessLost({ code }: GraphError, owner: TokenOwner): AccessLost {
  const isToken = code === 190 || code === 0
  return isToken
    ? new AccessLost('token-expired', 'The provider does not accept our access any more', remedies[owner])
    : new AccessLost('permission-missing', 'The provider does not allow our access this', remedies[owner])
}

/** Returns an error message of the provider as one line, with token-like strings removed. */
const redactTokens = (message: string): string =>
  truncate(
    message
      .replace(/^\(#\d+\)\s*/, '')
      .replace(/EA[A-Za-z0-9]{20,}/g, '…')
      .replace(/\s+/g, ' '),
    300,
  ) || 'The provider refused it'
