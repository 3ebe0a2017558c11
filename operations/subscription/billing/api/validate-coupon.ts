import { operation } from '#runtime/operation'
import { object } from '#runtime/schema'
import { validateCoupon } from '../../coupons.ts'
import { billingCycle, couponAnswer, couponCode, planId } from '../../schema.ts'

export default operation({
  method: 'POST',
  path: '/subscription/validate-coupon',
  description: 'Whether a coupon can be redeemed, why not, and what a plan then costs. Redeems nothing.',
  words: 'does a coupon work for my plan, discount code',
  scopes: ['platform:write', 'billing:write'],
  readOnly: false,
  whilePaused: true,
  input: {
    body: object({
      code: couponCode,
      planId: planId
        .optional()
        .describe('Left out: whether it holds for any plan with this cycle; planIds says for which'),
      billingCycle: billingCycle.default('monthly'),
    }),
  },
  answer: { status: 200, body: couponAnswer },
  transaction: 'own',
  example: { body: { code: 'WELCOME10', planId: 'growth' } },
  handler: (ctx, { body }) => validateCoupon(ctx, body),
})
