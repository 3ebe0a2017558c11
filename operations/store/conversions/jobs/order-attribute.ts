import { job } from '#runtime/job'
import { orderAttribute } from '../../handles.ts'
import { attributeOrders } from '../attribute-orders.ts'

export default job(orderAttribute, {
  description: 'Attributes orders to messages and updates their conversions.',
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 120,
  safeTwice: 'One conversion per order, written from the current order while the order is locked.',
  async run(ctx, { orderIds }) {
    await ctx.transaction((tx) => attributeOrders(tx, orderIds))
  },
})
