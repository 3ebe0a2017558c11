import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
import { currencyFilter, groupings, range, summary } from '../../schema.ts'
import { readSummary } from '../summary.ts'

export default operation({
  method: 'GET',
  path: '/conversions/summary',
  description: 'Read recovered orders and revenue by day, week or month, each by source.',
  details: 'At most 731 days. Weeks are of ISO 8601; the first and last period are cut to the range.',
  words: 'sales brought by messages by day, week, month, chart',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'statistics',
  input: {
    query: object({
      ...range,
      groupBy: z.enum(groupings).default('day').describe('Length of the periods'),
      currency: currencyFilter,
    }),
  },
  answer: { status: 200, body: summary },
  handler: (ctx, { query }) => readSummary(ctx, query),
})
