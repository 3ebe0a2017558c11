import { job } from '#runtime/job'
import { stockReconcile } from '../../handles.ts'
import { reconcile, selectStoresWithWork } from '../reconcile.ts'

export default job(stockReconcile, {
  description: 'Finds stock that returned without an event, and alerts of dead workers',
  retry: { limit: 3, backoffSeconds: 30 },
  timeoutSeconds: 300,
  every: { seconds: 15 * 60, stores: selectStoresWithWork },
  oneAtATimePer: () => 'all',
  safeTwice: 'It only queues rollouts, which read the stock again, and cancels expired subscriptions.',
  run: (ctx) => reconcile(ctx),
})
