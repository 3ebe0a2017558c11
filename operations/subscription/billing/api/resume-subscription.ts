import { operation } from '#runtime/operation'
import { object } from '#runtime/schema'
import { billingCycle, checkout, couponCode, planId } from '../../schema.ts'
import { resume } from '../start-checkout.ts'
import { readCheckout } from '../views.ts'

export default operation({
  method: 'POST',
  path: '/subscription/resume',
  description: 'Resume a paused subscription through a new checkout. What was missed is not asked for.',
  words: 'come back, go on with my plan',
  scopes: ['platform:write', 'billing:write'],
  readOnly: false,
  lookFirst: ['/subscription', '/subscription/pre-approval'],
  whilePaused: true,
  input: {
    body: object({
      planId: planId.optional().describe('Default: the plan before'),
      billingCycle: billingCycle.optional().describe('Default: the cycle before'),
      couponCode: couponCode.optional(),
    }),
  },
  answer: { status: 201, body: checkout },
  refuses: { conflict: 'The subscription is not paused' },
  transaction: 'own',
  async handler(ctx, { body }) {
    return readCheckout(ctx, await resume(ctx, body))
  },
})
