import { operation } from '#runtime/operation'
import { automation } from '../../schema.ts'
import { readAutomation } from '../json.ts'

export default operation({
  method: 'GET',
  path: '/automations/:id',
  description: 'One automation with its message, timing, conditions and flow, and why it would not send now.',
  words: 'one automatic message, its steps',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'automations',
  answer: { status: 200, body: automation },
  refuses: { not_found: 'There is no such automation' },
  etag: true,
  handler: (ctx, { params }) => readAutomation(ctx, params.id),
})
