import { operation } from '#runtime/operation'
import { object } from '#runtime/schema'
import { billingCycle, checkout, couponCode, planId } from '../../schema.ts'
import { subscribe } from '../start-checkout.ts'
import { readCheckout } from '../views.ts'

export default operation({
  method: 'POST',
  path: '/subscription/create-preapproval',
  description: 'Start a checkout for a plan; the merchant opens its address to pay.',
  details:
    'From a trial, a cancelled or an ended subscription. A new checkout takes the place of an open one. Paid time that is left is credited. The payer is the preference `payerEmail` of the store (PATCH /store), else who asks: the provider may take nobody but the account of that address.',
  words: 'subscribe, buy a plan, checkout',
  scopes: ['platform:write', 'billing:write'],
  readOnly: false,
  lookFirst: ['/subscription'],
  whilePaused: true,
  input: {
    body: object({
      planId,
      billingCycle: billingCycle.default('monthly'),
      couponCode: couponCode.optional(),
    }),
  },
  answer: { status: 201, body: checkout },
  refuses: {
    conflict:
      'The status calls for another operation, which the message names; or the preference `payerEmail` is none',
  },
  transaction: 'own',
  example: { body: { planId: 'growth', billingCycle: 'monthly', couponCode: 'WELCOME10' } },
  async handler(ctx, { body }) {
    return readCheckout(ctx, await subscribe(ctx, body))
  },
})
