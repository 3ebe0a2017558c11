import { operation } from '#runtime/operation'
import { readCampaign } from '../../json.ts'
import { campaign } from '../../schema.ts'
import { pauseSending } from '../transitions.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/:id/pause',
  description: 'Pause a campaign that is sending. Nothing resumes it but resume.',
  details: "It takes hold between batches: at most two seconds' worth of messages may still leave.",
  words: 'stop a campaign that is going out right now, hold',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  answer: { status: 200, body: campaign },
  refuses: { not_found: 'There is no such campaign', conflict: 'It is not sending' },
  etag: true,
  async handler(ctx, { params }) {
    await pauseSending(ctx, params.id)
    return readCampaign(ctx, params.id)
  },
})
