import { job } from '#runtime/job'
import { newsletterCouponEmail } from '../../handles.ts'
import { mailCoupon } from '../coupon-email.ts'

export default job(newsletterCouponEmail, {
  description: 'Emails a subscriber their coupon code.',
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 60,
  safeTwice:
    'The id of the subscriber is the idempotency key of the email; a code that left is not due any more.',
  run: (ctx, { subscriberId }) => mailCoupon(ctx, subscriberId),
})
