import { operation } from '#runtime/operation'
import { conversation } from '../../schema.ts'
import { markUnread } from '../conversations.ts'
import { readConversation } from '../json.ts'

export default operation({
  method: 'POST',
  path: '/inbox/conversations/:id/unread',
  description: 'Put a conversation back among the unread ones.',
  words: 'mark a chat as not seen, come back to it later',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  answer: { status: 200, body: conversation },
  refuses: { not_found: 'There is no such conversation', conflict: 'The contact has not written yet' },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readConversation(ctx, params.id) },
  async handler(ctx, { params }) {
    await markUnread(ctx, params.id)
    return readConversation(ctx, params.id)
  },
})
