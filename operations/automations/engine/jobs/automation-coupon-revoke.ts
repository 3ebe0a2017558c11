import { job } from '#runtime/job'
import { automationCouponRevoke } from '../../handles.ts'
import { revokeUnsent } from '../coupons.ts'

export default job(automationCouponRevoke, {
  description: 'Deletes a coupon at the platform whose terms were corrected before its message left.',
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 60,
  safeTwice: 'Deleting a coupon that is gone does nothing.',
  run: (ctx, { code }) => revokeUnsent(ctx, code),
  async failed(ctx, { code }, reason) {
    ctx.log.error({ code, reason }, 'unsent coupon not revoked')
  },
})
