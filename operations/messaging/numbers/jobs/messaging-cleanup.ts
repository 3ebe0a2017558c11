import { serverJob } from '#runtime/job'
import { messagingCleanup } from '../../handles.ts'
import { doReleases, pruneOld } from '../releases.ts'

export default serverJob(messagingCleanup, {
  description:
    'Ends at the providers what is over here, and deletes what callbacks and the assistant were told more than 90 days ago',
  retry: { limit: 3, backoffSeconds: 60 },
  timeoutSeconds: 900,
  everySeconds: 24 * 3600,
  storeByStore: true,
  safeTwice: 'Logging out or deleting what is gone is success.',
  async run(system, _payload, { signal }) {
    const again = await doReleases(system, signal)
    if (again) await system.queue(messagingCleanup, {}, { at: again })
    await pruneOld(system, signal)
  },
})
