import { operation } from '#runtime/operation'
import { deleteSubscription } from '../subscriptions.ts'

export default operation({
  method: 'DELETE',
  path: '/stock-notifications/:notificationId',
  description: 'Delete a subscription to stock and erase its name and contact; metrics still count it.',
  words: 'take a customer off the waiting list',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'stock-alerts',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such subscription', conflict: 'Its alert is on its way' },
  handler: (ctx, { params }) => deleteSubscription(ctx, params.notificationId),
})
