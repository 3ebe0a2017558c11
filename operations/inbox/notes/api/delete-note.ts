import { operation } from '#runtime/operation'
import { deleteNote } from '../notes.ts'

export default operation({
  method: 'DELETE',
  path: '/inbox/notes/:noteId',
  description: 'Delete a note: an agent their own, others any.',
  words: 'throw a note away',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such note', forbidden: 'It is the note of somebody else' },
  handler: (ctx, { params }) => deleteNote(ctx, params.noteId),
})
