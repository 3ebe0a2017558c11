import { job } from '#runtime/job'
import { stockReconcile } from '../../handles.ts'
import { reconcile, storesWithWork } from '../reconcile.ts'

export default job(stockReconcile, {
  description: 'Looks for stock that came back without a word, and for alerts that nobody looks after',
  retry: { limit: 3, backoffSeconds: 30 },
  timeoutSeconds: 300,
  every: { seconds: 15 * 60, stores: storesWithWork },
  oneAtATimePer: () => 'all',
  safeTwice: 'It only queues waves, which read the stock again, and cancels what is too old.',
  run: (ctx) => reconcile(ctx),
})
