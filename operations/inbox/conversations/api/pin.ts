import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
import { conversation } from '../../schema.ts'
import { pinConversation } from '../conversations.ts'
import { readConversation } from '../json.ts'

export default operation({
  method: 'POST',
  path: '/inbox/conversations/:id/pin',
  description: 'Pin a conversation to the top of the list for the whole team, or unpin it.',
  words: 'keep a chat on top, favourite',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: object({ pinned: z.boolean() }) },
  answer: { status: 200, body: conversation },
  refuses: { not_found: 'There is no such conversation', conflict: '50 are pinned already' },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readConversation(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await pinConversation(ctx, params.id, body.pinned)
    return readConversation(ctx, params.id)
  },
})
