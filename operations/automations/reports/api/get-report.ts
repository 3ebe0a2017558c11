import { operation } from '#runtime/operation'
import { object, paging, queryList } from '#runtime/schema'
import { executionStatus } from '../../engine/execution-schema.ts'
import { reportDays } from '../../schema.ts'
import { readReport } from '../report.ts'
import { report } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/automations/:automationId/report',
  description: 'Show what an automation sent on the days asked for: counters, each day, and every message.',
  details:
    'A message belongs to the day it was sent, else to the day it is due; pending ones count as they are now, whatever the days. status narrows the messages, not the counters.',
  words:
    'how well does the automation work, who left without paying and came back, abandoned carts recovered',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'automations',
  input: {
    query: object({
      ...paging,
      ...reportDays,
      status: queryList(executionStatus).optional().describe('One or more, comma-separated'),
    }),
  },
  answer: { status: 200, body: report },
  refuses: { not_found: 'There is no such automation' },
  handler: (ctx, { params, query }) => readReport(ctx, params.automationId, query),
})
