import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { officialRevalidate } from '../../handles.ts'

export default serverJob(handle('official-revalidate-all', object({})), {
  description: 'Once a day, has every official number revalidated',
  retry: { limit: 1, backoffSeconds: 60 },
  timeoutSeconds: 300,
  everySeconds: 24 * 3600,
  oneAtATimePer: () => 'all',
  safeTwice: 'It only queues jobs that run one at a time.',
  async run(system) {
    const stores = await system.root
      .selectFrom('messaging_connections')
      .select('store_id')
      .where('type', '=', 'official')
      .where('credentials', 'is not', null)
      .execute()
    for (const { store_id: storeId } of stores) {
      const ctx = await system.forStore(storeId)
      await ctx?.queue(officialRevalidate, {})
    }
  },
})
