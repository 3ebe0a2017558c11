import { job } from '#runtime/job'
import { stockAlertWave } from '../../handles.ts'
import { runRollout } from '../batch-rollout.ts'

export default job(stockAlertWave, {
  description: 'Rolls out the alerts of a variant that is back, as far as the stock allows',
  retry: { limit: 5, backoffSeconds: 30 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ variantId, isNext }) => `${variantId}${isNext ? ' next' : ''}`,
  safeTwice: "It locks the rollout's row while it claims, and a subscription leaves `waiting` once.",
  run: (ctx, { variantId }, { signal }) => runRollout(ctx, variantId, signal),
  // The merchant is not notified, because the reconciliation queues the rollout again.
  async failed(ctx, { variantId }, reason) {
    ctx.log.error({ variantId, reason }, 'stock alert rollout dead-lettered')
  },
})
