import { operation } from '#runtime/operation'
import { metricsQuery, readMetrics, reviewMetrics } from '../metrics.ts'

export default operation({
  method: 'GET',
  path: '/product-reviews/metrics',
  description: 'Get how many reviews were asked for and came in over some days, and how good they are.',
  details:
    "Days in the store's time zone. Ratings are of approved reviews written in the period; responseRate counts the reviews there are by now of those requested in it.",
  words: 'average rating, how many stars do I have',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'reviews',
  input: { query: metricsQuery },
  answer: { status: 200, body: reviewMetrics },
  handler: (ctx, { query }) => readMetrics(ctx, query),
})
