import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { discountsSync } from '../../handles.ts'

export default serverJob(handle('discounts-sync-all', object({})), {
  description: 'Queues the sync of discounts for every connected store.',
  retry: { limit: 2, backoffSeconds: 30 },
  timeoutSeconds: 300,
  everySeconds: 3600,
  safeTwice: 'A sync that waits already is not queued a second time.',
  async run(ctx, _payload, { signal }) {
    const stores = await ctx.root
      .selectFrom('connections as c')
      .select('c.store_id')
      .where('c.port', '=', 'ecommerce')
      .where('c.connected_at', 'is not', null)
      .execute()
    for (const { store_id: storeId } of stores) {
      signal.throwIfAborted()
      await ctx.services.queue.send(discountsSync, {
        storeId,
        userId: null,
        requestId: ctx.requestId,
        payload: {},
      })
    }
  },
})
