import { job } from '#runtime/job'
import { newsletterCoupon } from '../../handles.ts'
import { giveUpCoupon, issueLater } from '../coupons.ts'

export default job(newsletterCoupon, {
  description: "Makes a subscriber's coupon code on the platform.",
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 60,
  safeTwice:
    'The platform keeps one coupon for each code; only a code that is pending is made, and emailed once.',
  run: (ctx, { subscriberId }) => issueLater(ctx, subscriberId),
  failed: (ctx, { subscriberId }) => giveUpCoupon(ctx, subscriberId, 'the platform did not answer.'),
})
