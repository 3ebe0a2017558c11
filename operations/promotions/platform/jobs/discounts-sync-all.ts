import { serverJob } from '#runtime/job'
import { object } from '#runtime/schema'
import discountsSync from './discounts-sync.ts'

export default serverJob({
  description: 'Queues the sync of discounts for every connected store.',
  payload: object({}),
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
