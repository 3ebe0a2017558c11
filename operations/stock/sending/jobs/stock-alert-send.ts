import { job } from '#runtime/job'
import { stockAlertSend } from '../../handles.ts'
import { sendClaim } from '../send.ts'

export default job(stockAlertSend, {
  description: 'Sends the stock alerts of one claim: those of a part of a wave, or a single one',
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
