import { notify } from '#operations/notifications/door'
import { type JobAttempt, job } from '#runtime/job'
import { connectedStores, ecommerce, registerWebhooks } from '../../connections/connections.ts'
import { ordersSync } from '../../handles.ts'
import { readOrders } from '../reading.ts'

export default job(ordersSync, {
  description: "Brings the mirror of the platform's orders up to date.",
  retry: { limit: 4, backoffSeconds: 30 },
  timeoutSeconds: 600,
  every: { seconds: 900, stores: connectedStores, payload: () => ({ checkWebhooks: true }) },
  oneAtATimePer: () => 'orders',
  safeTwice:
    'An order is written when the platform has a newer version; the cursor moves in the same transaction.',
  async run(ctx, { checkWebhooks }, { signal }: JobAttempt) {
    const connected = await ecommerce(ctx)
    if (!connected) return
    if (checkWebhooks) await registerWebhooks(ctx, connected)
    await readOrders(ctx, connected, signal)
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
