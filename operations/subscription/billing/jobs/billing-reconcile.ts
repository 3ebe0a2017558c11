import { job } from '#runtime/job'
import { billingReconcile } from '../../handles.ts'
import { reconcile } from '../reconcile.ts'
import { storesToReconcile } from '../tick.ts'

export default job(billingReconcile, {
  description: 'Reconciles the subscription with its payment provider and finishes interrupted calls.',
  retry: { limit: 8, backoffSeconds: 30 },
  timeoutSeconds: 300,
  every: { seconds: 3600, stores: storesToReconcile },
  oneAtATimePer: ({ intentId }) => intentId ?? 'all',
  safeTwice:
    'Missing changes go through events, which are applied once; every call to the provider is idempotent.',
  run: (ctx) => reconcile(ctx),
})
