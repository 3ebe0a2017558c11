import { operation } from '#runtime/operation'
import { day, object } from '#runtime/schema'
import { readMetrics } from '../metrics.ts'
import { popupMetrics } from '../metrics-schema.ts'

export default operation({
  method: 'GET',
  path: '/newsletter/metrics',
  description: 'Count how often the popup was shown and what it brought, by day and against the days before.',
  words: 'how well does the popup convert, signups',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'newsletter',
  input: {
    query: object({
      startDate: day.optional().describe('Default: 29 days before endDate'),
      endDate: day.optional().describe('Default: today'),
    }),
  },
  answer: { status: 200, body: popupMetrics },
  handler: (ctx, { query }) => readMetrics(ctx, query),
})
