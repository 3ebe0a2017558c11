import { operation } from '#runtime/operation'
import { lastCheckout } from '../../billing/views.ts'
import { checkoutResult } from '../../schema.ts'

export default operation({
  method: 'GET',
  path: '/subscription/checkout-result',
  description: 'What became of the last checkout; none with nulls where there never was one.',
  words: 'did my payment go through',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: checkoutResult },
  handler: (ctx) => lastCheckout(ctx),
})
