import { job } from '#runtime/job'
import { campaignSend } from '../../handles.ts'
import { sendCampaign } from '../run.ts'

export default job(campaignSend, {
  description: 'Sends a campaign in batches, at the rate of the number',
  retry: { limit: 5, backoffSeconds: 5 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ campaignId }) => campaignId,
  // A run takes up to 20 seconds, and must not delay interactive jobs.
  isBulk: true,
  safeTwice:
    'A message is claimed in the database before it is sent, and is sent under its own key; its result is recorded once, by claim.',
  run: (ctx, work, { signal }) => sendCampaign(ctx, work, signal),
  // The merchant is not notified, because the watchdog queues the job again.
  async failed(ctx, { campaignId }, reason) {
    ctx.log.error({ campaignId, reason }, 'campaign run dead-lettered')
  },
})
