import { operation } from '#runtime/operation'
import { stockSubscription } from '../../subscription-schema.ts'
import { getSubscription } from '../subscriptions.ts'

export default operation({
  method: 'GET',
  path: '/stock-notifications/:notificationId',
  description: 'Get one subscription to stock.',
  words: 'one customer on the waiting list, was this person notified',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'stock-alerts',
  answer: { status: 200, body: stockSubscription },
  refuses: { not_found: 'There is no such subscription' },
  etag: true,
  handler: (ctx, { params }) => getSubscription(ctx, params.notificationId),
})
