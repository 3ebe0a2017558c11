import { operation } from '#runtime/operation'
import { getList, renameList } from '../lists.ts'
import { changedListBody, contactList } from '../schema.ts'

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
