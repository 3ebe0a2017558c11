import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { cartsSync } from '../../handles.ts'

export default serverJob(handle('carts-sync-all', object({})), {
  description: 'Queues the sync of carts for every connected store.',
  retry: { limit: 2, backoffSeconds: 30 },
  timeoutSeconds: 300,
  everySeconds: 300,
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
      const envelope = { storeId, userId: null, requestId: ctx.requestId, payload: {} }
      await ctx.services.queue.send(cartsSync, envelope)
    }
  },
})
