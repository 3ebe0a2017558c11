import { job } from '#runtime/job'
import { object } from '#runtime/schema'
import { syncDiscounts } from '../sync.ts'

export default job({
  description:
    'Makes the discounts of the platform the same as the saved ones, and reads how often each was used.',
  payload: object({}),
  retry: { limit: 4, backoffSeconds: 60 },
  timeoutSeconds: 900,
  oneAtATimePer: () => 'all',
  safeTwice:
    'It compares both sides and changes only what differs; what is being written meanwhile it leaves alone.',
  run: (ctx, _payload, { signal }) => syncDiscounts(ctx, signal),
})
