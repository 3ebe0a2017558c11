import { job } from '#runtime/job'
import { reviewDispatchSend } from '../../handles.ts'
import { findStoresWithWork, sendRequests } from '../run.ts'

export default job(reviewDispatchSend, {
  description: 'Sends requests for reviews and reminders that are due, and those sent by hand',
  retry: { limit: 5, backoffSeconds: 30 },
  timeoutSeconds: 900,
  every: { seconds: 60, stores: findStoresWithWork },
  oneAtATimePer: () => 'send',
  safeTwice:
    'A message is claimed with its requests and its text before it is sent, under its own key; a claim older than ten minutes is sent again under the same key.',
  run: (ctx, _payload, { signal }) => sendRequests(ctx, signal),
  // The merchant is not notified, because the job is queued again every minute while there are messages to send.
  async failed(ctx, _payload, reason) {
    ctx.log.error({ reason }, 'review request send failed after all retries')
  },
})
