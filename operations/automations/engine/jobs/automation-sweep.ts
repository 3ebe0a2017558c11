import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { automationAdvance } from '../../handles.ts'
import { releaseConnected } from '../release-holds.ts'
import { freeExecutes, storesHeld, storesToSweep } from '../sweep.ts'

export default serverJob(handle('automation-sweep', object({})), {
  description: 'Looks for messages of automations that are due and that no worker looks after',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 55,
  everySeconds: 60,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice: 'It only queues jobs that run one at a time a store, and makes due what nothing holds any more.',
  async run(system) {
    for (const storeId of await storesHeld(system.root)) {
      const ctx = await system.forStore(storeId)
      if (ctx) await releaseConnected(ctx)
    }
    await freeExecutes(system)
    const now = system.now()
    for (const storeId of await storesToSweep(system.root, now)) {
      const ctx = await system.forStore(storeId)
      await ctx?.queue(automationAdvance, { key: 'sweep', at: now.toISOString(), executionId: null })
    }
  },
})
