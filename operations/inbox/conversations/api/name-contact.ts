import { operation } from '#runtime/operation'
import { line, object } from '#runtime/schema'
import { conversation } from '../../schema.ts'
import { nameContact } from '../conversations.ts'
import { readConversation } from '../json.ts'

export default operation({
  method: 'POST',
  path: '/inbox/conversations/:id/name',
  description: 'Name the contact by hand; null goes back to the name they gave themselves.',
  words: 'correct the name of a customer',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: object({ name: line(1, 120).nullable() }) },
  answer: { status: 200, body: conversation },
  refuses: { not_found: 'There is no such conversation' },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readConversation(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await nameContact(ctx, params.id, body.name)
    return readConversation(ctx, params.id)
  },
})
