import { job } from '#runtime/job'
import { stockAlertSend } from '../../handles.ts'
import { sendClaim } from '../send.ts'

export default job(stockAlertSend, {
  description: 'Sends the stock alerts of one claim: a batch of a rollout, or a single one',
  retry: { limit: 10, backoffSeconds: 10 },
  timeoutSeconds: 900,
  oneAtATimePer: ({ claimId }) => claimId,
  safeTwice:
    'Each alert is claimed before it is sent, and is sent under its own key: st_<subscription>_<attempt>.',
  async run(ctx, work, { signal }) {
    const next = await sendClaim(ctx, work, signal)
    if (next) await ctx.queue(stockAlertSend, next.work, { at: next.at })
  },
  // The merchant is not notified, because the reconciliation requeues the claim.
  async failed(ctx, { claimId }, reason) {
    ctx.log.error({ claimId, reason }, 'stock alert claim dead-lettered')
  },
})
