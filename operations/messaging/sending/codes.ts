/** Why a message does not leave, or did not arrive (rule 5). No database. */

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
