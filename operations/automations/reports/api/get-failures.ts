import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
import { reportDays } from '../../schema.ts'
import { readFailures } from '../failures.ts'
import { failures } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/automations/:automationId/failures',
  description: 'List why messages of an automation failed or were skipped: each reason with its count.',
  words: 'why did automatic messages fail, errors',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'automations',
  input: {
    query: object({
      ...reportDays,
      outcome: z
        .enum(['failed', 'skipped'])
        .optional()
        .describe('Only messages that failed, or only those that were skipped'),
    }),
  },
  answer: { status: 200, body: failures },
  refuses: { not_found: 'There is no such automation' },
  handler: (ctx, { params, query }) => readFailures(ctx, params.automationId, query),
})
