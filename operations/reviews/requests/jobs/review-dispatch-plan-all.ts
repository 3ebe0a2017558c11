import { serverJob } from '#runtime/job'
import { object } from '#runtime/schema'
import reviewDispatchPlan from './review-dispatch-plan.ts'

export default serverJob({
  description: 'Queues the hourly look for orders that reached the trigger of review requests',
  payload: object({}),
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
