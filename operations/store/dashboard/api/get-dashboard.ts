import { parseDayRange } from '#runtime/database/days'
import { operation } from '#runtime/operation'
import { day, object } from '#runtime/schema'
import { readDashboard } from '../dashboard.ts'
import { dashboard } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/dashboard',
  description: 'The home page of a period: recovered revenue, sales by channel, new subscribers.',
  details:
    "Days are those of the store's time zone. An order counts on the day it was placed, once it is paid and while it is not cancelled, less what was refunded since; one that was refunded whole counts no more.",
  words: 'sales, revenue, how much money did I make, earnings, channels',
  scopes: ['platform:read'],
  readOnly: true,
  input: {
    query: object({
      startDate: day.optional().describe('Default: 29 days before endDate'),
      endDate: day.optional().describe('Default: today; at most 365 days in all'),
    }),
  },
  answer: { status: 200, body: dashboard },
  handler: (ctx, { query }) => readDashboard(ctx, parseDayRange(ctx, query, 365)),
})
