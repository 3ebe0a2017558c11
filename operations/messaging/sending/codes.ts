/** Why a message does not leave, or did not arrive (rule 5). No database. */

import type { MailRefusal } from '#runtime/ports/mail/port'

export const refusalCodes = [
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
/** For good, and for one recipient only. */
export type RefusalCode = (typeof refusalCodes)[number]

/** What a provider says, as far as it is known. */
export const refusalCode = (code: string): RefusalCode =>
  refusalCodes.find((each) => each === code) ?? 'provider-error'

/** What speaks against a message before it is handed over. */
export type ObjectionCode =
  | RefusalCode
  | 'not-connected'
  | 'subscription-inactive'
  | 'opted-out'
  | 'number-limit'

/** Why a message that was taken on at once (a single send, one of the inbox) failed. */
type SingleFailure =
  | Exclude<ObjectionCode, 'opted-out' | 'not-connected'>
  | 'disconnected'
  | 'unknown-outcome'

/** What the API says of a failed message. */
export interface SingleError {
  code: SingleFailure
  message: string
}

/** What speaks against a message, as the error that it fails with. */
export function errorOf({ code, message }: { code: ObjectionCode; message: string }): SingleError {
  if (code === 'opted-out') return { code: 'recipient-stopped', message }
  return { code: code === 'not-connected' ? 'disconnected' : code, message }
}

/** Why a message failed, in every lane of the outbox (rule 5). */
export type LaneFailure = SingleFailure | 'quota-exceeded' | MailRefusal
