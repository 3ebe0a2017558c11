/** Codes for messages that were not sent or did not arrive (rule 5). Does not use the database. */

import type { MailRefusal } from '#runtime/ports/mail/port'

export const providerErrorCodes = [
  'not-on-network',
  'undelivered',
  'window-closed',
  'template-refused',
  'media-refused',
  'frequency-capped',
  'recipient-stopped',
  'too-long',
  'provider-error',
] as const
/** A permanent error that concerns one recipient only. */
export type ProviderErrorCode = (typeof providerErrorCodes)[number]

/** Unknown codes become `provider-error`. */
export const toProviderErrorCode = (code: string): ProviderErrorCode =>
  providerErrorCodes.find((each) => each === code) ?? 'provider-error'

/** Why a message cannot be dispatched. */
export type PreconditionCode =
  | ProviderErrorCode
  | 'not-connected'
  | 'subscription-inactive'
  | 'opted-out'
  | 'number-limit'

/** Why a message failed after its request was accepted (a single send, an inbox message). */
type SingleFailure =
  | Exclude<PreconditionCode, 'opted-out' | 'not-connected'>
  | 'disconnected'
  | 'unknown-outcome'

/** The error of a failed message in the API. */
export interface SingleError {
  code: SingleFailure
  message: string
}

/** Converts an unmet precondition to the error that the message fails with. */
export function toSingleError({ code, message }: { code: PreconditionCode; message: string }): SingleError {
  if (code === 'opted-out') return { code: 'recipient-stopped', message }
  return { code: code === 'not-connected' ? 'disconnected' : code, message }
}

/** Why a message failed, in any source of the outbox (rule 5). */
export type OutboxFailure = SingleFailure | 'quota-exceeded' | MailRefusal
