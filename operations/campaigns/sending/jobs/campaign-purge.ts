import { job } from '#runtime/job'
import { campaignPurge } from '../../handles.ts'
import { purgeCampaign } from '../purge.ts'

const lookAgainSeconds = 120

export default job(campaignPurge, {
  description: 'Deletes the messages of a deleted campaign',
  retry: { limit: 10, backoffSeconds: 10 },
  timeoutSeconds: 300,
  safeTwice: 'It deletes the rows of a deleted campaign by id.',
  async run(ctx, { campaignId }) {
    const isGone = await purgeCampaign(ctx, campaignId)
    if (!isGone) await ctx.queue(campaignPurge, { campaignId }, { afterSeconds: lookAgainSeconds })
  },
})
