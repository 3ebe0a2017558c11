import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { templateSync } from '../../handles.ts'

export default serverJob(handle('template-sync-all', object({})), {
  description: 'Every six hours, has the templates of every connected official number synced',
  retry: { limit: 1, backoffSeconds: 60 },
  timeoutSeconds: 300,
  everySeconds: 6 * 3600,
  oneAtATimePer: () => 'all',
  safeTwice: 'It only queues jobs that run one at a time.',
  async run(system) {
    const stores = await system.root
      .selectFrom('messaging_connections')
      .select('store_id')
      .where('type', '=', 'official')
      .where('status', '=', 'connected')
      .execute()
    for (const { store_id } of stores) {
      const ctx = await system.forStore(store_id)
      await ctx?.queue(templateSync, {})
    }
  },
})
