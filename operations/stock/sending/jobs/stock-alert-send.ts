import { type Job, job } from '#runtime/job'
import { id, object, z } from '#runtime/schema'
import { sendClaim } from '../send.ts'

const payload = object({
  claimId: id,
  tries: z.number().int().min(0).default(0),
  places: z.number().int().min(1).optional().describe('Places on the number that are taken for it already'),
})

const stockAlertSend: Job<typeof payload> = job({
  description: 'Sends the stock alerts of one claim: those of a part of a wave, or a single one',
  payload,
  retry: { limit: 10, backoffSeconds: 10 },
  timeoutSeconds: 900,
  oneAtATimePer: ({ claimId }) => claimId,
  safeTwice:
    'Each alert is claimed before it leaves, and leaves under a key of its own: st_<subscription>_<attempt>.',
  async run(ctx, work, { signal }) {
    const left = await sendClaim(ctx, work, signal)
    if (left) await ctx.queue(stockAlertSend, left.work, { at: left.at })
  },
  // The reconciliation takes the claim up again.
  async failed(ctx, { claimId }, reason) {
    ctx.log.error({ claimId, reason }, 'a claim of stock alerts was given up')
  },
})
export default stockAlertSend
