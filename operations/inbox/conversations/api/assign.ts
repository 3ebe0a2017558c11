import { operation, z } from '#runtime/operation'
import { id, object } from '#runtime/schema'
import { conversation } from '../../schema.ts'
import { assign } from '../conversations.ts'
import { readConversation } from '../json.ts'

export default operation({
  method: 'POST',
  path: '/inbox/conversations/:id/assign',
  description: 'Give a conversation to a member of the store, or to nobody.',
  details: 'The assignee is notified, unless they took it themselves.',
  words: 'give a chat to a colleague, hand over, take it myself',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: {
    body: object({
      assigneeId: id.nullable(),
      onlyIfUnassigned: z.boolean().default(false).describe('The first of two concurrent claims wins'),
    }),
  },
  answer: { status: 200, body: conversation },
  refuses: { not_found: 'There is no such conversation', conflict: 'Somebody else has it' },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readConversation(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await assign(ctx, params.id, body)
    return readConversation(ctx, params.id)
  },
})
