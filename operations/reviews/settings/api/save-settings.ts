import { operation } from '#runtime/operation'
import { reviewSettings, reviewSettingsInput } from '../schema.ts'
import { reviewRules } from '../settings.ts'

export default operation({
  method: 'POST',
  path: '/product-reviews/settings',
  description: 'Change how reviews are asked for, published and shown. Fields left out keep their value.',
  details:
    'The texts know {{customerName}}, {{firstName}}, {{productName}}, {{orderNumber}}, {{storeName}} and {{reviewUrl}}. A new delay, time or channel holds for requests planned from now on. Orders that reached the trigger before requests were turned on are never asked about.',
  words: 'ask buyers for their opinion, when and how, publish by itself',
  scopes: ['platform:write'],
  readOnly: false,
  consequences: ['messages'],
  feature: 'reviews',
  input: { body: reviewSettingsInput },
  answer: { status: 200, body: reviewSettings },
  etag: true,
  example: {
    body: {
      isEnabled: true,
      request: { trigger: 'delivered', delayDays: 7, sendTime: '10:00' },
      autoPublish: { mode: 'rating', minRating: 4 },
    },
  },
  handler: (ctx, { body }) => reviewRules.save(ctx, body),
})
