import { operation } from '#runtime/operation'
import { object, queryInt } from '#runtime/schema'
import { reportDays } from '../../schema.ts'
import { readFlowStats } from '../flow-stats.ts'
import { flowStats } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/automations/:automationId/flow/stats',
  description: 'Statistics of each step of the flow, for the runs that entered on the requested days.',
  details: 'By default for the current version. Without a flow only the first message is counted.',
  words: 'where do people drop out of the flow, each step',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'automations',
  input: {
    query: object({ ...reportDays, version: queryInt(1, 999_999_999).optional().describe('Of the flow') }),
  },
  answer: { status: 200, body: flowStats },
  refuses: { not_found: 'There is no such automation, or no such version' },
  handler: (ctx, { params, query }) => readFlowStats(ctx, params.automationId, query),
})
