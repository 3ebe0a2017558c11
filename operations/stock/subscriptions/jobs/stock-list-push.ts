import { job } from '#runtime/job'
import { stockListPush } from '../../handles.ts'
import { pushToList } from '../subscribe.ts'

export default job(stockListPush, {
  description: 'Adds a shopper who waits for stock to the list at the email provider',
  retry: { limit: 8, backoffSeconds: 30 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ subscriptionId }) => subscriptionId,
  safeTwice: 'The provider deduplicates people by email: the second time changes nothing.',
  run: (ctx, { subscriptionId }) => pushToList(ctx, subscriptionId),
})
