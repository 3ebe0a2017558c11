/** What holds until a store saves settings of its own. */
import type { ExchangeContent } from './schema.ts'

const reason = (key: string, label: string, needs: { photo?: true; comment?: true } = {}) => ({
  key,
  label,
  types: ['exchange' as const, 'return' as const],
  requiresPhoto: needs.photo === true,
  requiresComment: needs.comment === true,
  isActive: true,
})

const mail = (subject: string, news: string) => ({
  isEnabled: true,
  subject: `${subject} ({{requestNumber}})`,
  body: `Hello {{firstName|there}},\n\n${news}\n\nFollow it here: {{statusUrl}}\n\n{{storeName}}`,
})

const noMessage = { text: null, officialapiTemplateId: null }

export const defaultSettings: ExchangeContent = {
  isEnabled: false,
  windowDays: 30,
  returnWindowDays: null,
  windowFrom: 'delivered',
  allowOutsideWindow: false,
  types: ['exchange', 'return'],
  exchangeScope: 'same-product',
  conditions: ['Unused, with its tags and packaging'],
  excludedProductIds: [],
  excludedCategoryIds: [],
  excludeDiscountedItems: false,
  oneOpenRequestPerOrder: false,
  autoApprove: false,
  maxPhotos: 5,
  refundMethods: ['original-payment'],
  shippingDeadlineDays: 28,
  reasons: [
    reason('wrong-size', 'Wrong size'),
    reason('changed-mind', 'I changed my mind'),
    reason('defective', 'It is defective', { photo: true }),
    reason('damaged-in-transit', 'It was damaged on the way', { photo: true }),
    reason('wrong-item', 'I got the wrong item', { photo: true }),
    reason('not-as-described', 'It is not as described'),
    reason('other', 'Another reason', { comment: true }),
  ],
  returnMethods: [
    { method: 'customer-ships', label: 'Send it by post', instructions: null, isEnabled: true },
  ],
  returnAddress: null,
  texts: {
    pageTitle: 'Exchanges and returns',
    intro: null,
    policy: null,
    successMessage: 'We received your request.',
    outsideWindowMessage: 'The period for exchanges has ended for this order.',
    buttonText: 'Request',
  },
  emails: {
    requested: mail(
      'We received your request',
      'We received your request for order {{orderNumber}}: {{items}}.',
    ),
    approved: mail(
      'Your request was approved',
      'Your request for {{items}} was approved. Send to: {{returnAddress}} {{returnCode}} {{labelUrl}}',
    ),
    addressChanged: mail('The return address changed', 'Please send your items to: {{returnAddress}}'),
    received: mail('Your items arrived', 'We received your items: {{items}}.'),
    completed: mail('Your request is complete', 'Your request for order {{orderNumber}} is complete.'),
    rejected: mail('About your request', 'We cannot accept your request: {{rejectionReason}}'),
    expired: mail('Your request has expired', 'The items of your request were not sent by {{deadline}}.'),
  },
  messaging: {
    isEnabled: false,
    requested: noMessage,
    approved: noMessage,
    addressChanged: noMessage,
    received: noMessage,
    completed: noMessage,
    rejected: noMessage,
    expired: noMessage,
  },
}
