import { operation } from '#runtime/operation'
import { inboxStatus, readStatus } from '../status.ts'

export default operation({
  method: 'GET',
  path: '/inbox/status',
  description: 'Show whether the inbox is on, and how many conversations wait in it.',
  words: 'is the inbox on, unread chats',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  answer: { status: 200, body: inboxStatus },
  handler: (ctx) => readStatus(ctx),
})
