/** The jobs of subscription that are queued, by whoever does: a queue's name, and what it is told. */
import { handle } from '#runtime/jobs/handle'
import { id, object, z } from '#runtime/schema'

export const billingReconcile = handle(
  'billing-reconcile',
  object({
    intentId: id.optional().describe('Of a look that waits until whoever asked must be done'),
  }),
)

export const paymentFailedEmail = handle(
  'payment-failed-email',
  object({ paymentId: z.string(), amount: z.string(), currency: z.string() }),
)

export const sandboxBillingTick = handle('sandbox-billing-tick', object({}))
