/** Why a message did not leave, or failed, in one sentence. */
import { isOwn, type OwnReason, reasonOf as ownReasonOf } from './own-reasons.ts'

/** What the network or the provider says of a message (messaging, rule 5). */
const refusals = {
  'not-on-network': 'The phone is not on the messaging network',
  undelivered: 'The network could not deliver the message',
  'window-closed':
    'The customer has not written in the last 24 hours, and the message is no approved template',
  'media-refused': 'The provider refused the media',
  'frequency-capped': 'The network limits how many marketing messages a person gets',
  'recipient-stopped': 'The customer stopped marketing messages at the network',
  'too-long': 'The text is longer than the connection carries',
  'no-text': 'The message has no text, and the connection takes no template',
  'missing-variable': 'A variable of the template has no value',
} as const

/** How a message fails, or why it is skipped. */
export type ReasonCode = OwnReason | keyof typeof refusals

const isRefusal = (code: string): code is keyof typeof refusals => Object.hasOwn(refusals, code)

/** The sentence of a failure code or a skip reason, as it is kept. */
export const reasonOf = (code: string): string =>
  isRefusal(code) ? refusals[code] : isOwn(code) ? ownReasonOf(code) : 'The message could not be sent'
