import { operation } from '#runtime/operation'
import { exchangeMetrics, metricsQuery, readMetrics } from '../metrics.ts'

export default operation({
  method: 'GET',
  path: '/product-exchanges/metrics',
  description:
    'Get how many exchanges and returns were asked for over some days, why, and what became of them.',
  details: "Days in the store's time zone. Each request counts on the day it was created.",
  words: 'why do buyers send things back, how often, most returned products, return rate',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'exchanges',
  input: { query: metricsQuery },
  answer: { status: 200, body: exchangeMetrics },
  handler: (ctx, { query }) => readMetrics(ctx, query),
})
