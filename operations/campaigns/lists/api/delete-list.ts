import { operation } from '#runtime/operation'
import { deleteList } from '../lists.ts'

export default operation({
  method: 'DELETE',
  path: '/campaigns/lists/:id',
  description: 'Delete a contact list with its contacts; an import that runs stops.',
  details: 'Drafts, failed, sent and cancelled campaigns keep the name of the list and lose their listId.',
  words: 'throw an audience away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  answer: { status: 204 },
  refuses: { not_found: 'No such list', conflict: 'A scheduled, sending or paused campaign uses it' },
  handler: (ctx, { params }) => deleteList(ctx, params.id),
})
