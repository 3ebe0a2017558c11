import { job } from '#runtime/job'
import { id, object } from '#runtime/schema'
import { mailConfirmation } from '../confirm.ts'

export default job({
  description: 'Mails the link that proves a review to be of an address that bought the product',
  payload: object({ reviewId: id }),
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ reviewId }) => reviewId,
  safeTwice: 'A review has one token, and its email one idempotency key.',
  run: (ctx, { reviewId }) => mailConfirmation(ctx, reviewId),
})
