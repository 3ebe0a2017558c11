import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { findStoresDueTonight, startNightlyRun } from '../segments.ts'

export default serverJob(handle('inbox-segments-nightly', object({})), {
  description: 'Has the tiers of every store computed at 03:00 of its day.',
  retry: { limit: 1, backoffSeconds: 30 },
  timeoutSeconds: 120,
  everySeconds: 600,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice: "A store's night is recorded in the transaction that queues its run.",
  async run(system, _payload, { signal }) {
    for (const { storeId, day } of await findStoresDueTonight(system)) {
      signal.throwIfAborted()
      const ctx = await system.forStore(storeId)
      if (ctx) await startNightlyRun(ctx, day)
    }
  },
})
