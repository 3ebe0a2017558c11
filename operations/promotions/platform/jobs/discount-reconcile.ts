import { job } from '#runtime/job'
import { discountReconcile } from '../../handles.ts'
import { settleIntent } from '../reconcile.ts'

export default job(discountReconcile, {
  description: 'Brings the platform back to a saved discount whose change was never heard of.',
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ discountId, token }) => `${discountId}:${token}`,
  safeTwice:
    'It does nothing where the intent is closed; the platform takes a put or a removal of one reference and revision as often as it comes.',
  async run(ctx, { discountId, token }) {
    await settleIntent(ctx, discountId, token)
  },
})
