import { connections } from '#operations/store/door'
import { job } from '#runtime/job'
import { discountsSync } from '../../handles.ts'
import { syncDiscounts } from '../sync.ts'

export default job(discountsSync, {
  description:
    'Makes the discounts of the platform the same as the saved ones, and reads how often each was used.',
  retry: { limit: 4, backoffSeconds: 60 },
  timeoutSeconds: 900,
  every: { seconds: 3600, stores: connections.connectedStores },
  oneAtATimePer: () => 'all',
  safeTwice:
    'It compares both sides and changes only what differs; what is being written meanwhile it leaves alone.',
  run: (ctx, _payload, { signal }) => syncDiscounts(ctx, signal),
})
