import { job } from '#runtime/job'
import { billingReconcile } from '../../handles.ts'
import { reconcile } from '../reconcile.ts'
import { storesToReconcile } from '../tick.ts'

export default job(billingReconcile, {
  description:
    'Compares the subscription with what its payment provider knows, and finishes what was left half-way.',
  retry: { limit: 8, backoffSeconds: 30 },
  timeoutSeconds: 300,
  every: { seconds: 3600, stores: storesToReconcile },
  oneAtATimePer: ({ intentId }) => intentId ?? 'all',
  safeTwice:
    'What is missing goes through the events, which are applied once; every call to the provider is idempotent.',
  run: (ctx) => reconcile(ctx),
})
