import { JsonText, operation } from '#runtime/operation'
import { queued } from '#runtime/schema'
import { campaignSend } from '../../handles.ts'
import { readCampaign } from '../../json.ts'
import { campaign } from '../../schema.ts'
import { resumeSending } from '../transitions.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/:id/resume',
  description: 'Go on with a paused campaign, to the same audience.',
  words: 'go on with a campaign that was paused',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  lookFirst: ['/campaigns/:id', '/subscription/usage'],
  feature: 'campaigns',
  answer: { status: 202, body: queued({ campaign }) },
  monitor: '/campaigns/:id',
  refuses: {
    not_found: 'There is no such campaign',
    conflict: 'It is not paused, or nothing can carry it now',
  },
  async handler(ctx, { params }) {
    await resumeSending(ctx, params.id)
    const job = await ctx.queue(campaignSend, { campaignId: params.id, places: 0 })
    return new JsonText(
      `{"jobId":"${job.jobId}","status":"queued","campaign":${(await readCampaign(ctx, params.id)).text}}`,
    )
  },
})
