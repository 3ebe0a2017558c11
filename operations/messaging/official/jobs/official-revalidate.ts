import { ApiError } from '#runtime/errors'
import { job } from '#runtime/job'
import { officialRevalidate } from '../../handles.ts'
import { isUnavailable } from '../../numbers/provider.ts'
import { revalidate } from '../revalidate.ts'

export default job(officialRevalidate, {
  description: "Updates the status of a store's official number from the provider",
  retry: { limit: 4, backoffSeconds: 60 },
  timeoutSeconds: 120,
  every: {
    seconds: 24 * 3600,
    stores: ({ root }) =>
      root
        .selectFrom('messaging_connections')
        .select('store_id')
        .where('type', '=', 'official')
        .where('credentials', 'is not', null),
  },
  oneAtATimePer: () => 'store',
  safeTwice: 'It only sets the current state.',
  async run(ctx, _payload, { isLast }) {
    try {
      await revalidate(ctx)
    } catch (error) {
      // Disconnected meanwhile: nothing to revalidate.
      if (error instanceof ApiError && error.code === 'conflict') return
      if (!isUnavailable(error) || !isLast) throw error
      // The merchant is not notified of an outage of the provider; the next daily run tries again.
      ctx.log.warn({ err: error }, 'official number revalidation failed')
    }
  },
})
