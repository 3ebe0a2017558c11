import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { tick } from '../tick.ts'

export default serverJob(handle('subscription-tick', object({})), {
  description:
    'Writes what is due by the clock in every subscription, opens message cycles, tells of trials that end.',
  retry: { limit: 1, backoffSeconds: 10 },
  timeoutSeconds: 300,
  everySeconds: 60,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice:
    'A move is written under the lock of its row, from where the row is; notices have a key of their own.',
  run: (ctx, _payload, { signal }) => tick(ctx, signal),
})
