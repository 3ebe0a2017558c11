import { Refusal } from '#runtime/errors'
import { job } from '#runtime/job'
import { templateSync } from '../../handles.ts'
import { syncTemplates } from '../sync.ts'

export default job(templateSync, {
  description: "Brings a store's templates to what the provider has",
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
  safeTwice: 'It compares, and takes over what differs.',
  async run(ctx) {
    try {
      await syncTemplates(ctx)
    } catch (error) {
      // Disconnected meanwhile, or somebody syncs by hand: there is nothing left to do.
      if (!(error instanceof Refusal && error.code === 'conflict')) throw error
    }
  },
})
