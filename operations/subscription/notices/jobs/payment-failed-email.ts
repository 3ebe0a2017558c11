import { job } from '#runtime/job'
import { paymentFailedEmail } from '../../handles.ts'
import { mailPaymentFailed } from '../payment-failed-email.ts'

export default job(paymentFailedEmail, {
  description: 'Emails the owners that a renewal could not be charged.',
  retry: { limit: 5, backoffSeconds: 30 },
  timeoutSeconds: 60,
  safeTwice: 'Payment and owner are the idempotency key of the email.',
  run: (ctx, payload) => mailPaymentFailed(ctx, payload),
})
