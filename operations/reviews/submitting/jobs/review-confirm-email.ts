import { job } from '#runtime/job'
import { reviewConfirmEmail } from '../../handles.ts'
import { sendConfirmationEmail } from '../confirm.ts'

export default job(reviewConfirmEmail, {
  description: 'Mails the link that proves a review to be of an address that bought the product',
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ reviewId }) => reviewId,
  safeTwice: 'A review has one token, and its email one idempotency key.',
  run: (ctx, { reviewId }) => sendConfirmationEmail(ctx, reviewId),
})
