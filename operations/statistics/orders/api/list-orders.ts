import { operation, z } from '#runtime/operation'
import { count, currency, instant, listOf, money, object, paging, searchText } from '#runtime/schema'
import { order, orderStatuses, paymentStatuses, range } from '../../schema.ts'
import { listOrders } from '../orders.ts'

export default operation({
  method: 'GET',
  path: '/analytics/orders',
  description: "List the platform's orders, newest first, each with its source.",
  details: 'At most 365 days. It answers when the platform is down; `syncedAt` says how fresh it is.',
  words: 'orders of the shop, purchases, who bought, unpaid orders, find an order by number',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'statistics',
  input: {
    query: object({
      ...paging,
      ...range,
      status: orderStatuses,
      paymentStatus: paymentStatuses,
      search: searchText('In number, name, email or phone', 200),
    }),
  },
  answer: {
    status: 200,
    body: listOf(order).extend({
      totals: z
        .array(object({ currency, orders: count, revenue: money }))
        .describe('Counted orders of the whole range'),
      syncedAt: instant.nullable(),
    }),
  },
  refuses: { conflict: 'The store was never connected to a platform' },
  handler: (ctx, { query }) => listOrders(ctx, query),
})
