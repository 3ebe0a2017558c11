import { notify } from '#operations/notifications/index'
import { type JobAttempt, job } from '#runtime/job'
import { findEcommerce, readProgress, registerWebhooks, saveProgress } from '../../connections/connections.ts'
import { noteMissed, storesToSync } from '../../connections/sync-schedule.ts'
import { ordersSync } from '../../handles.ts'
import { syncOrders } from '../sync.ts'

export default job(ordersSync, {
  description: 'Syncs changed orders from the platform.',
  retry: { limit: 4, backoffSeconds: 30 },
  timeoutSeconds: 600,
  every: {
    seconds: 900,
    stores: storesToSync('orders', 'ordersReconciledAt'),
    payload: () => ({ checkWebhooks: true }),
  },
  oneAtATimePer: () => 'orders',
  safeTwice:
    'An order is written when the platform has a newer version; the cursor moves in the same transaction.',
  async run(ctx, { checkWebhooks }, { signal }: JobAttempt) {
    const connected = await findEcommerce(ctx)
    if (!connected) return
    const wasMissing = checkWebhooks && (await registerWebhooks(ctx, connected))
    await syncOrders(ctx, connected, signal)
    if (!checkWebhooks) return
    const isFirst = (await readProgress(ctx, 'ordersReconciledAt')) === undefined
    const lost = { changes: [], wasMissing: wasMissing && !isFirst }
    await saveProgress(ctx, connected.connectedAt, {
      ordersReconciledAt: ctx.now().toISOString(),
      ...noteMissed(ctx, 'orders', lost),
      ...noteMissed(ctx, 'carts', lost),
    })
  },
  async failed(ctx) {
    await notify(ctx, {
      type: 'orders-sync-failed',
      level: 'warning',
      title: 'Orders could not be read from your platform',
      message:
        'The platform did not answer. We keep trying every 15 minutes; until then new orders are missing here.',
      dedupeKey: `orders-sync-failed:${ctx.now().toISOString().slice(0, 10)}`,
    })
  },
})
