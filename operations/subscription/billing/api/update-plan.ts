import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
import { billingCycle, couponCode, planChange, planId, planSummary } from '../../schema.ts'
import { changePlan } from '../change-plan.ts'
import { toPlanChangeView } from '../plan-change.ts'

export default operation({
  method: 'POST',
  path: '/subscription/update-plan',
  description: 'Change the plan or the billing cycle: now, at the end of the period, or through a checkout.',
  details:
    'A larger plan holds at once, charged for the rest of the period less what is unused. A smaller one holds from the next period. preview changes nothing. ' +
    `${planSummary} What is of a feature that the new plan lacks stops, is kept, and is there again with a plan that has it.`,
  words: 'upgrade, downgrade, change to another plan, yearly',
  scopes: ['platform:write', 'billing:write'],
  readOnly: false,
  lookFirst: ['/subscription'],
  whilePaused: true,
  input: {
    body: object({
      planId: planId.optional().describe('This or billingCycle; the one left out stays'),
      billingCycle: billingCycle.optional(),
      couponCode: couponCode.optional(),
      preview: z.boolean().default(false),
    }),
  },
  answer: { status: 200, body: planChange },
  refuses: {
    conflict:
      'On it already, the card was declined, the status calls for another operation, or its renewal is under way',
  },
  transaction: 'own',
  example: { body: { planId: 'growth', preview: true } },
  async handler(ctx, { body }) {
    return toPlanChangeView(ctx, await changePlan(ctx, body), body.preview)
  },
})
