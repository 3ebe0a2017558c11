import { operation } from '#runtime/operation'
import { listOf, object, paging, queryList, searchText } from '#runtime/schema'
import { listMessages } from '../../json.ts'
import { campaignMessage, messageStatus } from '../../schema.ts'

export default operation({
  method: 'GET',
  path: '/campaigns/:id/messages',
  description: 'List the messages of a campaign, one a recipient, in the order of sending.',
  details: 'Empty until sending has begun.',
  words: 'who did not get my campaign, each recipient, delivered, read, failed',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'campaigns',
  input: {
    query: object({
      ...paging,
      status: queryList(messageStatus).optional().describe('One or more, comma-separated'),
      search: searchText('In the name, or digits of the phone'),
    }),
  },
  answer: { status: 200, body: listOf(campaignMessage) },
  refuses: { not_found: 'There is no such campaign' },
  handler: (ctx, { params, query }) => listMessages(ctx, params.id, query),
})
