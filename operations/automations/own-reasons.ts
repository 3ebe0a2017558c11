/** Plain sentences for what did not leave. */
const sentences = {
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
} as const

/** Codes of our own: skip reasons, failures and cancellations. */
export type OwnReason = keyof typeof sentences

export const isOwn = (code: string): code is OwnReason => Object.hasOwn(sentences, code)

/** The sentence of a code. */
export const reasonOf = (code: OwnReason): string => sentences[code]
