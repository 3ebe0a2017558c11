import { JsonText, operation } from '#runtime/operation'
import { queued } from '#runtime/schema'
import { campaignSend } from '../../handles.ts'
import { readCampaign } from '../../json.ts'
import { campaign } from '../../schema.ts'
import { startSending } from '../transitions.ts'

export default operation({
  method: 'POST',
  path: '/campaigns/:id/send',
  description: 'Send a campaign now to every contact of its list who can still be reached.',
  details: 'What has left cannot be called back. Pause takes hold between batches.',
  words: 'send it now to everybody, promo to all clients, launch',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  lookFirst: ['/campaigns/:id', '/campaigns/:id/preview', '/subscription/usage'],
  feature: 'campaigns',
  answer: { status: 202, body: queued({ campaign }) },
  monitor: '/campaigns/:id',
  refuses: {
    not_found: 'There is no such campaign',
    conflict:
      'It is sending or was sent, its list is gone or empty or being imported into, its content is unfinished, or nothing can carry it',
    forbidden: 'More contacts than messages left in the cycle',
  },
  async handler(ctx, { params }) {
    await startSending(ctx, params.id)
    const job = await ctx.queue(campaignSend, { campaignId: params.id, places: 0 })
    return new JsonText(
      `{"jobId":"${job.jobId}","status":"queued","campaign":${(await readCampaign(ctx, params.id)).text}}`,
    )
  },
})
