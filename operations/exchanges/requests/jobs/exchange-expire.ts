import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { expireRequests, resumeNotices } from '../expire.ts'

export default serverJob(handle('exchange-expire', object({})), {
  description:
    'Expires approved requests that were not sent in time, and requeues notices that lost their job',
  retry: { limit: 2, backoffSeconds: 30 },
  timeoutSeconds: 600,
  everySeconds: 15 * 60,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice:
    'A request expires only while it is approved and past its deadline; a notice has one job at a time.',
  async run(system, _payload, { signal }) {
    await expireRequests(system, signal)
    await resumeNotices(system)
  },
})
