import { operation } from '#runtime/operation'
import { readLastCheckout } from '../../billing/views.ts'
import { checkoutResult } from '../../schema.ts'

export default operation({
  method: 'GET',
  path: '/subscription/checkout-result',
  description: 'The result of the last checkout; none, with nulls, if there never was one.',
  words: 'did my payment go through, did it work',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: checkoutResult },
  handler: (ctx) => readLastCheckout(ctx),
})
