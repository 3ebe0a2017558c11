import { operation } from '#runtime/operation'
import { id, object } from '#runtime/schema'
import { readConversation } from '../../conversations/json.ts'
import { conversation } from '../../schema.ts'
import { addTag } from '../tags.ts'

export default operation({
  method: 'POST',
  path: '/inbox/conversations/:id/tags',
  description: 'Put a tag on a conversation.',
  words: 'label this customer, wholesale, complaint',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: object({ tagId: id }) },
  answer: { status: 200, body: conversation },
  refuses: { not_found: 'There is no such conversation, or no such tag', conflict: 'It has 20 tags already' },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readConversation(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await addTag(ctx, params.id, body.tagId)
    return readConversation(ctx, params.id)
  },
})
