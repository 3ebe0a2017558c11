import { operation } from '#runtime/operation'
import { changedListBody, contactList } from '../lib/list-schema.ts'
import { getList, renameList } from '../lib/lists.ts'

export default operation({
  method: 'PUT',
  path: '/campaigns/lists/:id',
  description: 'Rename a contact list.',
  words: 'rename an audience',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  input: { body: changedListBody },
  answer: { status: 200, body: contactList },
  refuses: { not_found: 'No such list', conflict: 'Another list has this name' },
  etag: true,
  example: { body: { name: 'VIP 2026' } },
  async handler(ctx, { params, body }) {
    await renameList(ctx, params.id, body.name)
    return getList(ctx, params.id)
  },
})
