import { operation } from '#runtime/operation'
import { id, object } from '#runtime/schema'
import { conversation } from '../../schema.ts'
import { markRead } from '../conversations.ts'
import { readConversation } from '../json.ts'

export default operation({
  method: 'POST',
  path: '/inbox/conversations/:id/read',
  description: 'Mark the messages of a contact as read, up to one of them.',
  details: 'Later messages stay unread. The contact sees that it was read.',
  words: 'mark a chat as seen',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: object({ upToMessageId: id.optional().describe('The newest unless said') }) },
  answer: { status: 200, body: conversation },
  refuses: { not_found: 'There is no such conversation' },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readConversation(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await markRead(ctx, params.id, body.upToMessageId)
    return readConversation(ctx, params.id)
  },
})
