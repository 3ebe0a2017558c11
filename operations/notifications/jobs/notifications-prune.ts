import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { pruneNotifications } from '../prune.ts'

export default serverJob(handle('notifications-prune', object({})), {
  description: 'Deletes notifications over 90 days old, and those beyond the newest 1,000 of a store',
  retry: { limit: 2, backoffSeconds: 60 },
  timeoutSeconds: 1800,
  everySeconds: 24 * 3600,
  oneAtATimePer: () => 'all',
  safeTwice: 'It only deletes, so a second run finds nothing.',
  run: (ctx, _payload, { signal }) => pruneNotifications(ctx, signal),
})
