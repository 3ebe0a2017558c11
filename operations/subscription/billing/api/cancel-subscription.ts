import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
import { subscription } from '../../schema.ts'
import { cancel } from '../cancel.ts'
import { syncOverdueRenewal } from '../reconcile.ts'
import { readSubscription } from '../views.ts'

export default operation({
  method: 'POST',
  path: '/subscription/cancel',
  description: 'Cancel the subscription at the payment provider. Access ends with the paid period.',
  details: 'A trial keeps its days. What is past due or paused ends at once: no paid time is left.',
  words: 'end my plan, stop paying, leave',
  scopes: ['platform:write', 'billing:write'],
  readOnly: false,
  lookFirst: ['/subscription'],
  whilePaused: true,
  input: {
    body: object({
      reason: z
        .enum(['too-expensive', 'missing-features', 'switched', 'closing-store', 'not-using', 'other'])
        .optional(),
      comment: z.string().max(1000, 'must have at most 1000 characters').optional(),
    }),
  },
  answer: { status: 200, body: subscription },
  refuses: { conflict: 'It is cancelled or has ended already, or another change is under way' },
  etag: true,
  transaction: 'own',
  example: { body: { reason: 'closing-store' } },
  async handler(ctx, { body }) {
    await syncOverdueRenewal(ctx)
    await cancel(ctx, body)
    return readSubscription(ctx)
  },
})
