import { operation } from '#runtime/operation'
import { usage } from '../../schema.ts'
import { readUsage } from '../usage.ts'

export default operation({
  method: 'GET',
  path: '/subscription/usage',
  description: 'Messages used and left in the cycle that holds now, by source and by local day.',
  words: 'messages left this month, quota, how many can I still send',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: usage },
  handler: (ctx) => readUsage(ctx),
})
