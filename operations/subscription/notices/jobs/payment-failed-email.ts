import { job } from '#runtime/job'
import { object, z } from '#runtime/schema'
import { mailPaymentFailed } from '../payment-failed-email.ts'

export default job({
  description: 'Emails the owners that a renewal could not be charged.',
  payload: object({ paymentId: z.string(), amount: z.string(), currency: z.string() }),
  retry: { limit: 5, backoffSeconds: 30 },
  timeoutSeconds: 60,
  safeTwice: 'Payment and owner are the idempotency key of the email.',
  run: (ctx, payload) => mailPaymentFailed(ctx, payload),
})
