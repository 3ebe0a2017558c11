import { job } from '#runtime/job'
import { object } from '#runtime/schema'
import { reconcile } from '../reconcile.ts'

export default job({
  description: 'Looks for stock that came back without a word, and for alerts that nobody looks after',
  payload: object({}),
  retry: { limit: 3, backoffSeconds: 30 },
  timeoutSeconds: 300,
  oneAtATimePer: () => 'all',
  safeTwice: 'It only queues waves, which read the stock again, and cancels what is too old.',
  run: (ctx) => reconcile(ctx),
})
