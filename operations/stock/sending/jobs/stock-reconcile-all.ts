import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { stockReconcile } from '../../handles.ts'
import { findStores } from '../reconcile.ts'

export default serverJob(handle('stock-reconcile-all', object({})), {
  description: 'Reconciles the stock that people wait for, store by store',
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
