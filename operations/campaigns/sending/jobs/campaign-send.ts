import { job } from '#runtime/job'
import { campaignSend } from '../../handles.ts'
import { sendCampaign } from '../run.ts'

export default job(campaignSend, {
  description: 'Sends a campaign, batch after batch at the pace of the number',
  retry: { limit: 5, backoffSeconds: 5 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ campaignId }) => campaignId,
  // Runs are long: a worker has other work too.
  isBulk: true,
  safeTwice:
    'A message is claimed in the database before it leaves, and leaves under a key of its own; its results are written once, by claim.',
  run: (ctx, work, { signal }) => sendCampaign(ctx, work, signal),
  // The watchdog queues it again: there is nothing a merchant could do.
  async failed(ctx, { campaignId }, reason) {
    ctx.log.error({ campaignId, reason }, 'a run of a campaign was given up')
  },
})
