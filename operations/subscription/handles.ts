/** Handles of this section's jobs, with queue name and payload, for code that queues them. */
import { handle } from '#runtime/jobs/handle'
import { id, object, z } from '#runtime/schema'

export const billingReconcile = handle(
  'billing-reconcile',
  object({
    intentId: id.optional().describe('Checked once the lease of this request has run out'),
  }),
)

export const paymentFailedEmail = handle(
  'payment-failed-email',
  object({ paymentId: z.string(), amount: z.string(), currency: z.string() }),
)

export const sandboxBillingTick = handle('sandbox-billing-tick', object({}))
