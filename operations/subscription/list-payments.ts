import { operation } from '#runtime/operation'
import { listOf, object, paging, queryList } from '#runtime/schema'
import { listPayments } from './lib/payment-list.ts'
import { payment, paymentStatus } from './lib/schema.ts'

export default operation({
  method: 'GET',
  path: '/subscription/payments',
  description: 'List the payments of the subscription, newest first, declined ones included.',
  words: 'my invoices, receipts, what did I pay',
  scopes: ['platform:read'],
  readOnly: true,
  input: {
    query: object({
      ...paging,
      status: queryList(paymentStatus).optional().describe('One or more, comma-separated'),
    }),
  },
  answer: { status: 200, body: listOf(payment) },
  handler: (ctx, { query }) => listPayments(ctx, query),
})
