import { operation } from '#runtime/operation'
import { listOf, object, paging, queryFlag, queryList, searchText } from '#runtime/schema'
import { automation, automationType } from '../../schema.ts'
import { listAutomations } from '../json.ts'

export default operation({
  method: 'GET',
  path: '/automations',
  description: 'List the automations, newest first, each with its counters of the last 30 days.',
  words: 'which automatic messages run, abandoned carts, birthdays',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'automations',
  input: {
    query: object({
      ...paging,
      type: queryList(automationType).optional().describe('One or more, comma-separated'),
      isActive: queryFlag.optional().describe('true: only active automations; false: only the others'),
      search: searchText('In the name'),
    }),
  },
  answer: { status: 200, body: listOf(automation) },
  handler: (ctx, { query }) => listAutomations(ctx, query),
})
