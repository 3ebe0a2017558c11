import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { queueReconciling } from '../tick.ts'

export default serverJob(handle('billing-reconcile-all', object({})), {
  description:
    'Queues the hourly comparison with the payment provider for every store that pays or is about to.',
  retry: { limit: 2, backoffSeconds: 60 },
  timeoutSeconds: 300,
  everySeconds: 3600,
  oneAtATimePer: () => 'all',
  safeTwice: 'A comparison that waits already is not queued a second time.',
  run: (ctx, _payload, { signal }) => queueReconciling(ctx, signal),
})
