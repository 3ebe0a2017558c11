import { operation } from '#runtime/operation'
import { listOf, object, paging, queryFlag } from '#runtime/schema'
import { contact, contactSearch } from '../contact-schema.ts'
import { listContacts } from '../contacts.ts'

export default operation({
  method: 'GET',
  path: '/campaigns/lists/:id/contacts',
  description: 'List the contacts of a list, newest first.',
  words: 'who is in the audience, find a contact',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'campaigns',
  input: {
    query: object({
      ...paging,
      search: contactSearch,
      optedOut: queryFlag.optional().describe('true: only contacts who opted out; false: only the others'),
    }),
  },
  answer: { status: 200, body: listOf(contact) },
  refuses: { not_found: 'No such list' },
  handler: (ctx, { params, query }) => listContacts(ctx, params.id, query),
})
