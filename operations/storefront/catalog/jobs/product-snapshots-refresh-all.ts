import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { productSnapshotsRefresh } from '../../handles.ts'

export default serverJob(handle('product-snapshots-refresh-all', object({})), {
  description: 'Queues the refresh of the whole catalog for every connected store.',
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
      await ctx.services.queue.send(productSnapshotsRefresh, {
        storeId,
        userId: null,
        requestId,
        payload: {},
      })
    }
  },
})
