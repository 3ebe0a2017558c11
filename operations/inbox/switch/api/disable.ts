import { operation } from '#runtime/operation'
import { inboxStatus, readStatus } from '../status.ts'
import { disable } from '../switch.ts'

export default operation({
  method: 'POST',
  path: '/inbox/disable',
  description: 'Turn the inbox off: nothing comes in any more, everything stays readable.',
  details: 'Messages that are queued still leave.',
  words: 'turn the inbox off',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'member',
  feature: 'inbox',
  answer: { status: 200, body: inboxStatus },
  async handler(ctx) {
    await disable(ctx)
    return readStatus(ctx)
  },
})
