import { operation } from '#runtime/operation'
import { listOf } from '#runtime/schema'
import { stockSubscription, subscriptionQuery } from '../../subscription-schema.ts'
import { listSubscriptions } from '../subscriptions.ts'

export default operation({
  method: 'GET',
  path: '/stock-notifications/list',
  description:
    'List who waits for products to return, newest first; with `status`, those already notified too.',
  words: 'back-in-stock waiting list, people who want to be notified, sold-out products that are wanted',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'stock-alerts',
  input: { query: subscriptionQuery },
  answer: { status: 200, body: listOf(stockSubscription) },
  handler: (ctx, { query }) => listSubscriptions(ctx, query),
})
