import { operation } from '#runtime/operation'
import { readConversation } from '../../conversations/json.ts'
import { conversation } from '../../schema.ts'
import { removeTag } from '../tags.ts'

export default operation({
  method: 'DELETE',
  path: '/inbox/conversations/:id/tags/:tagId',
  description: 'Take a tag off a conversation.',
  words: 'take a label off a chat',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such conversation, or it does not have this tag' },
  ifMatch: { of: conversation, read: (ctx, { params }) => readConversation(ctx, params.id) },
  handler: (ctx, { params }) => removeTag(ctx, params.id, params.tagId),
})
