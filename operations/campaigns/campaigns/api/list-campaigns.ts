import { operation } from '#runtime/operation'
import { listOf, object, paging, queryList, searchText } from '#runtime/schema'
import { listCampaigns } from '../../json.ts'
import { campaign, campaignStatus } from '../../schema.ts'

export default operation({
  method: 'GET',
  path: '/campaigns',
  description: 'List the campaigns, newest first, each with its audience and counters.',
  words: 'which campaigns were sent, results, blasts',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'campaigns',
  input: {
    query: object({
      ...paging,
      status: queryList(campaignStatus).optional().describe('One or more, comma-separated'),
      search: searchText('In the name'),
    }),
  },
  answer: { status: 200, body: listOf(campaign) },
  handler: (ctx, { query }) => listCampaigns(ctx, query),
})
