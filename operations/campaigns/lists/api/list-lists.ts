import { operation } from '#runtime/operation'
import { object, paging, searchText } from '#runtime/schema'
import { listLists } from '../lists.ts'
import { contactLists, listSource } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/campaigns/lists',
  description: 'List the contact lists, newest first.',
  words: 'audiences, groups of contacts, segments',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'campaigns',
  input: {
    query: object({
      ...paging,
      search: searchText('In the name'),
      source: listSource.optional().describe('Only lists made this way'),
    }),
  },
  answer: { status: 200, body: contactLists },
  handler: (ctx, { query }) => listLists(ctx, query),
})
