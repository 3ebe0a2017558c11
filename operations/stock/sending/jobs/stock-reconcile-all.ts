import { serverJob } from '#runtime/job'
import { object } from '#runtime/schema'
import { findStores } from '../reconcile.ts'
import stockReconcile from './stock-reconcile.ts'

export default serverJob({
  description: 'Reconciles the stock that people wait for, store by store',
  payload: object({}),
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 120,
  everySeconds: 15 * 60,
  oneAtATimePer: () => 'all',
  safeTwice: 'It only queues a job that runs one at a time for each store.',
  async run(system) {
    for (const storeId of await findStores(system.root)) {
      const ctx = await system.forStore(storeId)
      await ctx?.queue(stockReconcile, {})
    }
  },
})
