import { job } from '#runtime/job'
import { newsletterCoupon } from '../../handles.ts'
import { failCoupon, issuePending } from '../coupons.ts'

export default job(newsletterCoupon, {
  description: "Makes a subscriber's coupon code on the platform.",
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 60,
  safeTwice: 'The platform keeps one coupon per code; only a pending code is created, and emailed once.',
  run: (ctx, { subscriberId }) => issuePending(ctx, subscriberId),
  failed: (ctx, { subscriberId }) => failCoupon(ctx, subscriberId, 'the platform did not answer.'),
})
