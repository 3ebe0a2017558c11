import { operation } from '#runtime/operation'
import { listOf } from '#runtime/schema'
import { listRequests } from '../requests.ts'
import { exchangeRequestEntry, requestListQuery } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/product-exchanges/requests',
  description:
    'List what shoppers asked to exchange or return, newest first, by status, reason, words or days.',
  details:
    'Lists (status, reason) are repeated or comma-separated. Above 50,000 rows, 5,000 where text is looked for, total is that number and X-Total-Capped says so.',
  words: 'who wants to send something back, money back, wrong size, swaps, refunds asked for',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'exchanges',
  input: { query: requestListQuery },
  answer: { status: 200, body: listOf(exchangeRequestEntry) },
  handler: (ctx, { query }) => listRequests(ctx, query),
})
