import { type Job, job } from '#runtime/job'
import { id, object } from '#runtime/schema'
import { purgeCampaign } from '../purge.ts'

const payload = object({ campaignId: id })
const lookAgainSeconds = 120

const campaignPurge: Job<typeof payload> = job({
  description: 'Deletes the messages of a deleted campaign',
  payload,
  retry: { limit: 10, backoffSeconds: 10 },
  timeoutSeconds: 300,
  safeTwice: 'It deletes by id what is of a deleted campaign.',
  async run(ctx, { campaignId }) {
    const isGone = await purgeCampaign(ctx, campaignId)
    if (!isGone) await ctx.queue(campaignPurge, { campaignId }, { afterSeconds: lookAgainSeconds })
  },
})
export default campaignPurge
