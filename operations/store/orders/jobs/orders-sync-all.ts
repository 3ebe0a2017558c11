import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { ordersSync } from '../../handles.ts'

export default serverJob(handle('orders-sync-all', object({})), {
  description: 'Queues the sync of orders for every connected store.',
  retry: { limit: 2, backoffSeconds: 30 },
  timeoutSeconds: 300,
  everySeconds: 900,
  safeTwice: 'A sync that waits already is not queued a second time.',
  async run(ctx, _payload, { signal }) {
    const stores = await ctx.root
      .selectFrom('connections')
      .select('store_id')
      .where('port', '=', 'ecommerce')
      .where('connected_at', 'is not', null)
      .execute()
    for (const { store_id: storeId } of stores) {
      signal.throwIfAborted()
      const payload = { checkWebhooks: true }
      await ctx.services.queue.send(ordersSync, { storeId, userId: null, requestId: ctx.requestId, payload })
    }
  },
})
