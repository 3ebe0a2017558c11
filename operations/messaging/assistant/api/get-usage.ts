import { operation } from '#runtime/operation'
import { readAgentUsage } from '../bindings.ts'
import { agentUsage } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/chat-agent/usage',
  description: 'Get the requests to the assistant in this message cycle, day by day.',
  words: 'questions to the assistant used this month',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'chat-agent',
  answer: { status: 200, body: agentUsage },
  handler: (ctx) => readAgentUsage(ctx),
})
