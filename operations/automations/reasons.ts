/**
 * Every reason for which a message was not sent or failed: its code and the sentence that merchants read. To find where
 * a reason is decided, search for its code.
 */

import type { MessageReason } from '#operations/messaging/index'

/** Reasons decided by this server: skips, failures and cancellations. */
const ownReasons = {
  'no-phone': 'There is no phone number to write to',
  'opted-out': 'The customer does not want messages any more',
  cooldown: 'The customer got a message of this automation a short while ago',
  purchased: 'The customer has ordered in the meantime',
  'too-late': 'It would have come too late for what it is about',
  'coupon-ended': 'The coupon that the message promises had ended when it was due',
  'not-eligible': 'What the message is about has changed: it no longer calls for it',
  'automation-inactive': 'The automation was turned off when the message was due',
  'duplicate-request': 'The customer was asked for a review of this order already',
  'flow-ended': 'The flow ended here for this customer',
  'previous-failed': 'The message before it did not arrive',
  'subscription-inactive': 'The subscription or the plan did not allow it when the message was due',
  disconnected: 'No number was connected for 24 hours',
  'template-refused': 'The template was not approved within 24 hours',
  'number-limit': 'The number had written to as many people as it may for 24 hours',
  'provider-error': 'The provider could not be reached for 24 hours',
  'quota-exceeded': 'All messages of the cycle were used',
  'unknown-outcome': 'It is not known whether the message left: the provider never said what became of it',
  'coupon-failed': 'The platform did not take the coupon',
  'automation-deleted': 'The automation was deleted',
  'cancelled-by-member': 'A member of the team cancelled it',
} as const satisfies Partial<Record<MessageReason, string>>

/** Failures that the messaging network or the provider reports (rule 5 of the section messaging). */
const providerReasons = {
  'not-on-network': 'The phone is not on the messaging network',
  undelivered: 'The network could not deliver the message',
  'window-closed':
    'The customer has not written in the last 24 hours, and the message is no approved template',
  'media-refused': 'The provider refused the media',
  'frequency-capped': 'The network limits how many marketing messages a person gets',
  'recipient-stopped': 'The customer stopped marketing messages on WhatsApp',
  'too-long': 'The text is longer than the connection carries',
  'no-text': 'The message has no text, and the connection takes no template',
  'missing-variable': 'A variable of the template has no value',
} as const satisfies Partial<Record<MessageReason, string>>

export type OwnReason = keyof typeof ownReasons
/** Why a message failed or was skipped. */
export type ReasonCode = OwnReason | keyof typeof providerReasons

const sentences: Readonly<Record<ReasonCode, string>> = { ...ownReasons, ...providerReasons }

/** The sentence of a code; a generic sentence for an unknown code, which an older version may have stored. */
export const describeReason = (code: string): string =>
  Object.hasOwn(sentences, code) ? sentences[code as ReasonCode] : 'The message could not be sent'

declare module '#operations/messaging/outbox/outbox-source' {
  interface FailureCodes extends Record<ReasonCode, true> {}
}
