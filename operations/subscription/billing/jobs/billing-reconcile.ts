import { job } from '#runtime/job'
import { billingReconcile } from '../../handles.ts'
import { getSandboxBilling } from '../../provider/sandbox.ts'
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
  // `sandbox-billing-tick` reconciles a store before and after the simulated charges of the time that passed.
  run: async (ctx) => {
    const sandbox = ctx.settings.sandbox ? getSandboxBilling(ctx.adapters.billing) : null
    if (!(await sandbox?.hasDueSteps(ctx.store.id))) await reconcile(ctx)
  },
})
