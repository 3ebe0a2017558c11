import { operation } from '#runtime/operation'
import { execution } from '../execution-schema.ts'
import { cancelExecution } from '../run-now.ts'

export default operation({
  method: 'POST',
  path: '/automations/executions/:automationExecutionId/cancel',
  description: 'Cancel the next message of a run and end the run.',
  words: 'stop one waiting automatic message',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  feature: 'automations',
  answer: { status: 200, body: execution },
  refuses: {
    not_found: 'There is no such message of an automation',
    conflict: 'It is not pending',
  },
  handler: (ctx, { params }) => cancelExecution(ctx, params.automationExecutionId),
})
