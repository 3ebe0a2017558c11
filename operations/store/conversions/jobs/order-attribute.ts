import { job } from '#runtime/job'
import { orderAttribute } from '../../handles.ts'
import { attributeOrders } from '../attribute-orders.ts'

export default job(orderAttribute, {
  description: 'Says which message an order came from, and keeps its conversion as the order is.',
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 120,
  safeTwice: 'One conversion an order, written under the lock of the order from what the order says now.',
  async run(ctx, { orderIds }) {
    await ctx.transaction((tx) => attributeOrders(tx, orderIds))
  },
})
