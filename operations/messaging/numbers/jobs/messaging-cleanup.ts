import { serverJob } from '#runtime/job'
import { object } from '#runtime/schema'
import { doReleases, pruneOld } from '../releases.ts'

export default serverJob({
  description:
    'Ends at the providers what is over here, and deletes what callbacks and the assistant were told more than 90 days ago',
  payload: object({}),
  retry: { limit: 3, backoffSeconds: 60 },
  timeoutSeconds: 900,
  everySeconds: 24 * 3600,
  safeTwice: 'Logging out or deleting what is gone is success.',
  async run(system, _payload, { signal }) {
    const again = await doReleases(system, signal)
    if (again) await system.queue('messaging-cleanup', {}, { at: again })
    await pruneOld(system, signal)
  },
})
