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

const accountErrors = new Set([33, 368, 131031, 131037, 131042, 131045, 133010])
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

const refusals: Readonly<Record<number, { code: string; message: string }>> = {
  130472: { code: 'frequency-capped', message: 'The network limits marketing messages to this person' },
  130497: { code: 'undelivered', message: 'The network does not let businesses write to this country' },
  131021: { code: 'not-on-network', message: 'The phone is the number that sends' },
  131026: { code: 'not-on-network', message: 'The phone is not on the network' },
  131030: { code: 'not-on-network', message: 'The phone is not one that this number may write to' },
  131047: { code: 'window-closed', message: 'More than 24 hours have passed since the contact last wrote' },
  131049: { code: 'frequency-capped', message: 'The network limits marketing messages to this person' },
  131050: { code: 'recipient-stopped', message: 'The contact stopped marketing messages on WhatsApp' },
  131051: { code: 'media-refused', message: 'The network does not take this kind of message' },
  131052: { code: 'media-refused', message: 'The network could not fetch the file' },
  131053: { code: 'media-refused', message: 'The network could not take the file' },
  131062: { code: 'template-refused', message: 'The network does not send this to somebody without a phone' },
  131063: { code: 'template-refused', message: 'The network takes no marketing templates of this account' },
  132005: { code: 'too-long', message: 'The text is too long once its parameters are filled in' },
}

/** Maps the error of a send. */
export function toSendError(error: GraphError, owner: TokenOwner = 'merchant'): Error {
  const { code, subcode, status, retryAfterMs, message } = error
  const known = refusals[code]
  if (known) return new Refused(known.code, known.message)
  if (isBetween(code, 132000, 132999)) return new Refused('template-refused', redactTokens(message))
  if (isAboutAccess(error)) return toAccessLost(error, owner)
  // The number itself is gone: not an error of this message.
  const isGone = code === 100 && subcode === 33
  if (isGone || accountErrors.has(code))
    return new Refused('disconnected', 'The account at the provider cannot send')
  if (code === 131048 || code === 131064) return new NumberLimit('The number may not send more for now')
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
