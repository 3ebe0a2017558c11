import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { reviewDispatchSend } from '../../handles.ts'
import { storesWithWork } from '../run.ts'

export default serverJob(handle('review-dispatch-send-all', object({})), {
  description: 'Queues the sending of review requests for every store with some that are due',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 55,
  everySeconds: 60,
  oneAtATimePer: () => 'all',
  safeTwice: 'What waits already is not queued a second time.',
  async run(system) {
    for (const storeId of await storesWithWork(system)) {
      const ctx = await system.forStore(storeId)
      await ctx?.queue(reviewDispatchSend, {})
    }
  },
})
