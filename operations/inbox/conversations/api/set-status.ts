import { operation } from '#runtime/operation'
import { object } from '#runtime/schema'
import { conversation, conversationStatus } from '../../schema.ts'
import { setStatus } from '../conversations.ts'
import { readConversation } from '../json.ts'

export default operation({
  method: 'POST',
  path: '/inbox/conversations/:id/status',
  description: 'Close a conversation, or open it again.',
  details:
    'Closing settles what was unread or waited. What the contact writes next opens it again; an answer of the team does not.',
  words: 'close a chat, solved, done, reopen',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: object({ status: conversationStatus }) },
  answer: { status: 200, body: conversation },
  refuses: { not_found: 'There is no such conversation' },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readConversation(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await setStatus(ctx, params.id, body.status)
    return readConversation(ctx, params.id)
  },
})
