import { operation } from '#runtime/operation'
import { campaignPurge } from '../../handles.ts'
import { deleteCampaign } from '../drafts.ts'

export default operation({
  method: 'DELETE',
  path: '/campaigns/:id',
  description: 'Delete a campaign that is not sending, with its messages.',
  details: 'Sales attributed to it and opt-outs that answered it stay.',
  words: 'throw a campaign away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'campaigns',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such campaign', conflict: 'It is sending: cancel it first' },
  async handler(ctx, { params }) {
    await deleteCampaign(ctx, params.id)
    await ctx.queue(campaignPurge, { campaignId: params.id })
  },
})
