import { job } from '#runtime/job'
import { newsletterCouponEmail } from '../../handles.ts'
import { sendCouponEmail } from '../coupon-email.ts'

export default job(newsletterCouponEmail, {
  description: 'Emails a subscriber their coupon code.',
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 60,
  safeTwice:
    'The id of the subscriber is the idempotency key of the email; a code that was sent is no longer due.',
  run: (ctx, { subscriberId }) => sendCouponEmail(ctx, subscriberId),
})
