import { operation } from '#runtime/operation'
import { day, object, queryInt } from '#runtime/schema'
import { readAnalytics } from '../analytics.ts'
import { wishlistAnalytics } from '../analytics-schema.ts'

export default operation({
  method: 'GET',
  path: '/wishlist/analytics',
  description: 'Show what shoppers wished for in a range of days, and what they bought of it.',
  details:
    'The last 30 days unless dates are given, at most 365. Products with the most adds come first. A purchase counts on the day of the order.',
  words: 'favourites saved products most wanted',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'wishlist',
  input: {
    query: object({
      startDate: day.optional().describe('Default: 29 days before endDate'),
      endDate: day.optional().describe('Default: today'),
      limit: queryInt(1, 100).default(20).describe('Products answered'),
    }),
  },
  answer: { status: 200, body: wishlistAnalytics },
  handler: (ctx, { query }) => readAnalytics(ctx, query),
})
