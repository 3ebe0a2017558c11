import { operation } from '#runtime/operation'
import { object } from '#runtime/schema'
import { currencyFilter, range, statistics } from '../../schema.ts'
import { readStatistics } from '../statistics.ts'

export default operation({
  method: 'GET',
  path: '/statistics',
  description: 'Read what was sent in a range of days and the orders it brought, by feature and by day.',
  details:
    'At most 365 days, of the store in its time zone. Cancelled and refunded orders bring nothing, whenever that became known.',
  words: 'how many messages went out and what they sold, performance, conversion rate',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'statistics',
  input: { query: object({ ...range, currency: currencyFilter }) },
  answer: { status: 200, body: statistics },
  handler: (ctx, { query }) => readStatistics(ctx, query),
})
