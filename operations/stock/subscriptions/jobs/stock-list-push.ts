import { job } from '#runtime/job'
import { id, object } from '#runtime/schema'
import { pushToList } from '../subscribe.ts'

export default job({
  description: 'Adds a shopper who waits for stock to the list at the email provider',
  payload: object({ subscriptionId: id }),
  retry: { limit: 8, backoffSeconds: 30 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ subscriptionId }) => subscriptionId,
  safeTwice: 'The provider knows people by their email: the second time changes nothing.',
  run: (ctx, { subscriptionId }) => pushToList(ctx, subscriptionId),
})
