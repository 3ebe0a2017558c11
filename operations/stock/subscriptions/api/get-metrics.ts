import { operation } from '#runtime/operation'
import { day, object } from '#runtime/schema'
import { stockMetrics } from '../../subscription-schema.ts'
import { readMetrics } from '../metrics.ts'

export default operation({
  method: 'GET',
  path: '/stock-notifications/metrics',
  description: 'Get how many people subscribed and were notified in a period, and what that brought.',
  details:
    "The last 30 days unless said, at most 365, in the store's time zone. `waiting` and `topProducts` are of now.",
  words: 'how many wait for sold out products, demand',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'stock-alerts',
  input: { query: object({ startDate: day.optional(), endDate: day.optional() }) },
  answer: { status: 200, body: stockMetrics },
  handler: (ctx, { query }) => readMetrics(ctx, query),
})
