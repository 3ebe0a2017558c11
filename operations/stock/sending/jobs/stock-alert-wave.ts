import { job } from '#runtime/job'
import { stockAlertWave } from '../../handles.ts'
import { runWave } from '../waves.ts'

export default job(stockAlertWave, {
  description: 'Tells who waits for a variant that it is back, as far as the stock goes',
  retry: { limit: 5, backoffSeconds: 30 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ variantId, isNext }) => `${variantId}${isNext ? ' next' : ''}`,
  safeTwice: "It holds the wave's row while it claims, and a row leaves `waiting` once.",
  run: (ctx, { variantId }, { signal }) => runWave(ctx, variantId, signal),
  // The reconciliation comes again: there is nothing a merchant could do.
  async failed(ctx, { variantId }, reason) {
    ctx.log.error({ variantId, reason }, 'a wave of stock alerts was given up')
  },
})
