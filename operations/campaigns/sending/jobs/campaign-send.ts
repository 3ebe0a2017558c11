import { type Job, job } from '#runtime/job'
import { id, object, z } from '#runtime/schema'
import { sendCampaign } from '../run.ts'

const payload = object({
  campaignId: id,
  places: z.number().int().min(0).default(0).describe('Places on the number that are taken for it already'),
})

const campaignSend: Job<typeof payload> = job({
  description: 'Sends a campaign, batch after batch at the pace of the number',
  payload,
  retry: { limit: 5, backoffSeconds: 5 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ campaignId }) => campaignId,
  // Runs are long: a worker has other work too.
  concurrency: 3,
  safeTwice:
    'A message is claimed in the database before it leaves, and leaves under a key of its own; its results are written once, by claim.',
  run: (ctx, work, { signal }) =>
    sendCampaign(ctx, work, signal, (tx, next, at) => tx.queue(campaignSend, next, at ? { at } : {})),
  // The watchdog queues it again: there is nothing a merchant could do.
  async failed(ctx, { campaignId }, reason) {
    ctx.log.error({ campaignId, reason }, 'a run of a campaign was given up')
  },
})
export default campaignSend
