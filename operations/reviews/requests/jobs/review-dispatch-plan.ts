import { job } from '#runtime/job'
import { reviewDispatchPlan } from '../../handles.ts'
import { planOrders, scanOrders } from '../plan.ts'

export default job(reviewDispatchPlan, {
  description: 'Plans requests for reviews of orders that reached the trigger',
  retry: { limit: 5, backoffSeconds: 30 },
  timeoutSeconds: 600,
  every: {
    seconds: 3600,
    stores: ({ root }) =>
      root.selectFrom('review_settings').select('store_id').where('requests_since', 'is not', null),
  },
  safeTwice:
    'A request is unique by order and item; the cursor of the scan is saved in the transaction of its page.',
  run: (ctx, { orderIds }, { signal }) => (orderIds ? planOrders(ctx, orderIds) : scanOrders(ctx, signal)),
})
