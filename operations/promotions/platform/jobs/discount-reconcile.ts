import { job } from '#runtime/job'
import { discountReconcile } from '../../handles.ts'
import { reconcileIntent } from '../reconcile-intent.ts'

export default job(discountReconcile, {
  description: 'Brings the platform back to a saved discount after a change without an answer.',
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ discountId, token }) => `${discountId}:${token}`,
  safeTwice:
    'It does nothing if the intent is closed; a put or removal of one reference and revision is idempotent at the platform.',
  async run(ctx, { discountId, token }) {
    await reconcileIntent(ctx, discountId, token)
  },
})
