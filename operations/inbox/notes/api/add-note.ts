import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { note } from '../../schema.ts'
import { addNote } from '../notes.ts'

const { text, mentions, ...readOnly } = note.shape

export default operation({
  method: 'POST',
  path: '/inbox/conversations/:id/notes',
  description: 'Write a note on a conversation for the team; the customer never sees it.',
  words: 'leave a note for the team about a customer',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: writeBody({ text, mentions }, Object.keys(readOnly), ['text']) },
  answer: { status: 201, body: note },
  refuses: {
    not_found: 'There is no such conversation, or a mention is no member',
    conflict: 'The conversation has 500 notes',
  },
  etag: true,
  example: { body: { text: 'Prefers to be called in the afternoon' } },
  handler: (ctx, { params, body }) =>
    addNote(ctx, params.id, { text: body.text, mentions: body.mentions ?? [] }),
})
