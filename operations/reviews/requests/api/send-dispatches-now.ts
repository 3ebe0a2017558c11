import { operation, z } from '#runtime/operation'
import { count, queued } from '#runtime/schema'
import { itemResult } from '../../bulk-schema.ts'
import { dispatchTargets } from '../schema.ts'
import { sendNow } from '../send-now.ts'

export default operation({
  method: 'POST',
  path: '/product-reviews/dispatches/send-now',
  description: 'Send requests for reviews now, before their time or again after a failure.',
  details:
    'Works with requests turned off. Whoever may not be asked any more is skipped and a conflict in data; all takes every scheduled one and answers no data.',
  words: 'ask for the opinion now, do not wait',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  lookFirst: ['/product-reviews/dispatches'],
  feature: 'reviews',
  input: { body: dispatchTargets },
  answer: { status: 202, body: queued({ queued: count, failed: count, data: z.array(itemResult) }) },
  monitor: '/product-reviews/dispatches',
  refuses: {
    conflict: 'None of them could be sent',
    forbidden: 'The message quota does not cover them',
    unavailable: 'The platform does not say whether the products are still there',
  },
  transaction: 'own',
  example: { body: { ids: ['01934567-89ab-7cde-8f01-23456789abcd'] } },
  handler: (ctx, { body }) => sendNow(ctx, body),
})
