import { operation } from '#runtime/operation'
import { getList } from '../lists.ts'
import { contactList } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/campaigns/lists/:id',
  description: 'Read a contact list, with the progress and the row errors of its latest import.',
  words: 'one audience, how many contacts',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'campaigns',
  answer: { status: 200, body: contactList },
  refuses: { not_found: 'No such list' },
  etag: true,
  handler: (ctx, { params }) => getList(ctx, params.id),
})
