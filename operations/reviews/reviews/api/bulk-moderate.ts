import { operation, z } from '#runtime/operation'
import { count, id, object } from '#runtime/schema'
import { itemResult } from '../../bulk-schema.ts'
import { moderateMany } from '../moderation.ts'
import { rejectionReason } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/product-reviews/bulk-moderate',
  description:
    'Approve or reject up to 200 reviews, each on its own; the answer reports the result of each one.',
  details:
    'In the order given; a repeated id counts once. A review that has that status already is a conflict, one that is not of this store not_found. The answer is 200 even when none changed.',
  words: 'approve or reject many opinions at once',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'reviews',
  input: {
    body: object({
      ids: z.array(id).min(1).max(200),
      status: z.enum(['approved', 'rejected']),
      reason: rejectionReason,
    }),
  },
  answer: {
    status: 200,
    body: object({ updated: count, failed: count, data: z.array(itemResult) }),
  },
  example: {
    body: {
      ids: ['01934567-89ab-7cde-8f01-23456789abcd'],
      status: 'rejected',
      reason: 'Not about the product',
    },
  },
  handler: (ctx, { body }) => moderateMany(ctx, body.ids, body.status, body.reason ?? null),
})
