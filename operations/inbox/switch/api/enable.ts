import { operation } from '#runtime/operation'
import { inboxStatus, readStatus } from '../status.ts'
import { enable } from '../switch.ts'

export default operation({
  method: 'POST',
  path: '/inbox/enable',
  description: 'Turn the inbox on: what contacts write to the official number comes in from now on.',
  details: 'Messages from while it was off are looked for in the background.',
  words: 'turn the inbox on, start answering customers',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'member',
  feature: 'inbox',
  answer: { status: 200, body: inboxStatus },
  refuses: { conflict: 'No official number is connected' },
  async handler(ctx) {
    await enable(ctx)
    return readStatus(ctx)
  },
})
