import { operation } from '#runtime/operation'
import { cursorListOf, cursorQuery, queryList } from '#runtime/schema'
import { payment, paymentStatus } from '../../schema.ts'
import { listPayments } from '../payment-list.ts'

export default operation({
  method: 'GET',
  path: '/subscription/payments',
  description: 'List the payments of the subscription, newest first, declined ones included.',
  details:
    'To meet each exactly once while more are made, go on with `cursor`: the `nextCursor` of the answer before.',
  words: 'my invoices, receipts, what did I pay',
  scopes: ['platform:read'],
  readOnly: true,
  input: {
    query: cursorQuery({
      status: queryList(paymentStatus).optional().describe('One or more, comma-separated'),
    }),
  },
  answer: { status: 200, body: cursorListOf(payment) },
  handler: (ctx, { query }) => listPayments(ctx, query),
})
