import { serverJob } from '#runtime/job'
import { messagingCleanup } from '../../handles.ts'
import { doReleases, pruneOld } from '../releases.ts'

export default serverJob(messagingCleanup, {
  description:
    'Ends released connections at the providers, and deletes callback events and assistant messages older than 90 days',
  retry: { limit: 3, backoffSeconds: 60 },
  timeoutSeconds: 900,
  everySeconds: 24 * 3600,
  storeByStore: true,
  safeTwice: 'Logging out twice succeeds, and deleting a missing template or row changes nothing.',
  async run(system, _payload, { signal }) {
    const again = await doReleases(system, signal)
    if (again) await system.queue(messagingCleanup, {}, { at: again })
    await pruneOld(system, signal)
  },
})
