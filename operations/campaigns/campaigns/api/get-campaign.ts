import { operation } from '#runtime/operation'
import { readCampaign } from '../../json.ts'
import { campaign } from '../../schema.ts'

export default operation({
  method: 'GET',
  path: '/campaigns/:id',
  description: 'One campaign with its content, audience and counters.',
  details:
    'Counters agree with the messages at the read. The audience is that of the list until sending begins, then it is frozen.',
  words: 'results of a campaign, how many read it, sales',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'campaigns',
  answer: { status: 200, body: campaign },
  refuses: { not_found: 'There is no such campaign' },
  etag: true,
  handler: (ctx, { params }) => readCampaign(ctx, params.id),
})
