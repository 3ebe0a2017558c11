import { operation } from '#runtime/operation'
import { createList, getList } from '../lists.ts'
import { contactList, newListBody } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/lists',
  description: 'Create an empty contact list.',
  words: 'new audience, group of contacts, make a list of contacts',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  input: { body: newListBody },
  answer: { status: 201, body: contactList },
  refuses: { conflict: 'A list has this name already, or there are 200' },
  etag: true,
  example: { body: { name: 'VIP' } },
  async handler(ctx, { body }) {
    return getList(ctx, await createList(ctx, { name: body.name, source: 'manual' }))
  },
})
