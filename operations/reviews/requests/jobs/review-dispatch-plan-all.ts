import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { reviewDispatchPlan } from '../../handles.ts'

export default serverJob(handle('review-dispatch-plan-all', object({})), {
  description: 'Queues the hourly look for orders that reached the trigger of review requests',
  retry: { limit: 2, backoffSeconds: 60 },
  timeoutSeconds: 300,
  everySeconds: 3600,
  oneAtATimePer: () => 'all',
  safeTwice: 'A second scan finds nothing more to plan.',
  async run(system) {
    const stores = await system.root
      .selectFrom('review_settings')
      .select('store_id')
      .where('requests_since', 'is not', null)
      .execute()
    for (const { store_id: storeId } of stores) {
      const ctx = await system.forStore(storeId)
      await ctx?.queue(reviewDispatchPlan, {})
    }
  },
})
