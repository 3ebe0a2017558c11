import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { automationAdvance } from '../../handles.ts'
import { releaseIfConnected } from '../release-holds.ts'
import { findStoresOnHold, findStoresToSweep, releaseDeadExecutes } from '../sweep.ts'

export default serverJob(handle('automation-sweep', object({})), {
  description: 'Finds due messages of automations that no worker is processing',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 55,
  everySeconds: 60,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice: 'It only queues jobs that run one at a time per store, and releases holds that have ended.',
  async run(system) {
    for (const storeId of await findStoresOnHold(system.root)) {
      const ctx = await system.forStore(storeId)
      if (ctx) await releaseIfConnected(ctx)
    }
    await releaseDeadExecutes(system)
    const now = system.now()
    for (const storeId of await findStoresToSweep(system.root, now)) {
      const ctx = await system.forStore(storeId)
      await ctx?.queue(automationAdvance, { key: 'sweep', at: now.toISOString(), executionId: null })
    }
  },
})
