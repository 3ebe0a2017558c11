import { ApiError } from '#runtime/errors'
import { job } from '#runtime/job'
import { templateSync } from '../../handles.ts'
import { syncTemplates } from '../sync.ts'

export default job(templateSync, {
  description: "Synchronizes a store's templates with the provider's",
  retry: { limit: 4, backoffSeconds: 60 },
  timeoutSeconds: 120,
  every: {
    seconds: 6 * 3600,
    stores: ({ root }) =>
      root
        .selectFrom('messaging_connections')
        .select('store_id')
        .where('type', '=', 'official')
        .where('status', '=', 'connected'),
  },
  oneAtATimePer: () => 'store',
  safeTwice: 'It applies only the differences.',
  async run(ctx) {
    try {
      await syncTemplates(ctx)
    } catch (error) {
      // Disconnected meanwhile, or a manual sync is running: nothing to do.
      if (!(error instanceof ApiError && error.code === 'conflict')) throw error
    }
  },
})
