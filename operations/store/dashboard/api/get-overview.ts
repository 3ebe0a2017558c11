import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
import { readOverview } from '../overview.ts'
import { dashboardOverview, periods } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/dashboard/overview',
  description:
    'The home page at a glance: the figures of the last 24 hours or days beside the period before, what waits for you, the latest sales and reviews.',
  details:
    'The last hour or day is not over: the period before is cut at the same time of its last one, so that like is compared with like. A part of a feature that the plan lacks is 0 or empty.',
  words: 'home page, today at a glance, how is business, sales of this week, compared with before',
  scopes: ['platform:read'],
  readOnly: true,
  input: {
    query: object({
      period: z.enum(periods).default('7d').describe('Hours or whole local days up to now'),
    }),
  },
  answer: { status: 200, body: dashboardOverview },
  handler: (ctx, { query }) => readOverview(ctx, query.period),
})
