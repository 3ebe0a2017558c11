import { connections } from '#operations/store/index'
import { job } from '#runtime/job'
import { discountsSync } from '../../handles.ts'
import { syncDiscounts } from '../sync.ts'

export default job(discountsSync, {
  description: 'Reconciles the discounts of the platform with the saved ones, and reads their usage.',
  retry: { limit: 4, backoffSeconds: 60 },
  timeoutSeconds: 900,
  every: {
    seconds: 3600,
    stores: (system) =>
      connections
        .connectedStores(system)
        .where(({ exists, selectFrom }) =>
          exists(selectFrom('discounts as d').select('d.id').whereRef('d.store_id', '=', 'c.store_id')),
        ),
  },
  oneAtATimePer: () => 'all',
  safeTwice: 'It compares both sides, changes only differences, and skips discounts with a write under way.',
  run: (ctx, _payload, { signal }) => syncDiscounts(ctx, signal),
})
