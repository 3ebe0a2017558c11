/** Reasons for which a message was not sent or did not arrive: one enum for campaigns, automations and single sends. */
import { named, z } from '#runtime/schema'

/** The meaning of each code, published with the enum. */
const messageReasons = {
  'no-phone': 'the contact has no phone number',
  'opted-out': 'the contact opted out of messages',
  'missing-variable': 'a variable of the text or template has no value',
  'no-text': 'the message has no text',
  'too-long': "the text exceeds the connection's limit",
  cooldown: 'the customer got a message of this automation recently',
  purchased: 'the customer has ordered meanwhile',
  'too-late': 'the event that the message is about has passed',
  'coupon-ended': 'the offered coupon has expired',
  'coupon-failed': 'the e-commerce platform did not accept the coupon',
  'not-eligible': 'the conditions of the automation are no longer met',
  'duplicate-request': 'a review of this order was requested already',
  'flow-ended': 'the flow ended for this customer',
  'previous-failed': 'the previous message of the flow did not arrive',
  'automation-inactive': 'the automation was turned off',
  'automation-deleted': 'the automation was deleted',
  'cancelled-by-member': 'a team member cancelled it',
  'subscription-inactive': 'the subscription or plan did not allow it',
  'quota-exceeded': 'all messages of the billing cycle were used',
  disconnected: 'no number was connected, or its account cannot send',
  'number-limit': "the number's daily limit of recipients was reached",
  'template-refused': 'the template is not approved, or the messaging network refused it',
  'media-refused': 'the provider refused the file',
  'window-closed': 'the customer has not written in the last 24 hours, and the message is not a template',
  'not-on-network': 'the phone is not on the messaging network',
  undelivered: 'the messaging network could not deliver it',
  'frequency-capped': 'the messaging network limits marketing messages to this person',
  'recipient-stopped': 'the customer stopped marketing messages at the messaging network',
  'unknown-outcome': 'the provider never reported an outcome',
  'provider-error': 'the provider was unavailable, or gave an unknown error',
} as const

export type MessageReason = keyof typeof messageReasons

/** Builds an enum of some codes, described by their meanings. */
export const messageReasonAmong = <Code extends MessageReason>(codes: [Code, ...Code[]]) =>
  z.enum(codes).describe(codes.map((code) => `\`${code}\`: ${messageReasons[code]}`).join('; '))

const allCodes = Object.keys(messageReasons) as [MessageReason, ...MessageReason[]]

export const messageReason = named('MessageReason', messageReasonAmong(allCodes))
