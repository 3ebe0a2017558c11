import { serverJob } from '#runtime/job'
import { object } from '#runtime/schema'
import refresh from './product-snapshots-refresh.ts'

export default serverJob({
  description: 'Queues the refresh of the whole catalog for every connected store.',
  payload: object({}),
  retry: { limit: 2, backoffSeconds: 30 },
  timeoutSeconds: 300,
  everySeconds: 6 * 3600,
  safeTwice: 'A refresh that waits already is not queued a second time.',
  async run(ctx, _payload, { signal }) {
    const stores = await ctx.root
      .selectFrom('connections')
      .select('store_id')
      .where('port', '=', 'ecommerce')
      .where('connected_at', 'is not', null)
      .execute()
    for (const { store_id: storeId } of stores) {
      signal.throwIfAborted()
      const { requestId } = ctx
      await ctx.services.queue.send(refresh, { storeId, userId: null, requestId, payload: {} })
    }
  },
})
