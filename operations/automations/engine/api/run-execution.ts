import { operation } from '#runtime/operation'
import { id, queued } from '#runtime/schema'
import { runNow } from '../run-now.ts'

export default operation({
  method: 'POST',
  path: '/automations/executions/:automationExecutionId/run',
  description: 'Send the next message of a run now, without waiting for its time.',
  details:
    'Waits and quiet hours are skipped; checks and coupons of the flow on the way are done. It leaves even when the automation is off.',
  words: 'send a waiting automatic message now, do not wait',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  feature: 'automations',
  answer: { status: 202, body: queued({ executionId: id, automationId: id }) },
  monitor: '/automations/:automationId/report',
  refuses: {
    not_found: 'There is no such message of an automation',
    conflict: 'It is not pending, no number is connected, or the customer has opted out',
    forbidden: 'All messages of the cycle are used',
  },
  transaction: 'own',
  handler: (ctx, { params }) => runNow(ctx, params.automationExecutionId),
})
