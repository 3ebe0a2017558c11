import { operation } from '#runtime/operation'
import { listOf, object, paging } from '#runtime/schema'
import { note } from '../../schema.ts'
import { listNotes } from '../notes.ts'

export default operation({
  method: 'GET',
  path: '/inbox/conversations/:id/notes',
  description: "List the team's notes on a conversation, newest first.",
  words: 'what did the team write about this customer',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  input: { query: object(paging) },
  answer: { status: 200, body: listOf(note) },
  refuses: { not_found: 'There is no such conversation' },
  handler: (ctx, { params, query }) => listNotes(ctx, params.id, query),
})
