import { operation } from '#runtime/operation'
import { readSubscription } from '../../billing/views.ts'
import { subscription } from '../../schema.ts'

export default operation({
  method: 'GET',
  path: '/subscription',
  description: 'The plan of the store, its status now, its card and its next charge.',
  words: 'what plan am I on, when do I pay next, price',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: subscription },
  etag: true,
  handler: (ctx) => readSubscription(ctx),
})
