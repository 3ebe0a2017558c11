import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { automationScan } from '../../handles.ts'
import { automationsToScan } from '../scan.ts'

export default serverJob(handle('automation-scan-all', object({})), {
  description: 'Queues the scans of the day, each at the first quarter of an hour from its time on',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 55,
  // Quarters of an hour differ from zone to zone by nothing, but this server may start at any minute of one.
  everySeconds: 60,
  oneAtATimePer: () => 'all',
  safeTwice: 'A scan that waits already is not queued a second time.',
  async run(system) {
    for (const { store_id: storeId, id } of await automationsToScan(system.root, system.now())) {
      const ctx = await system.forStore(storeId)
      await ctx?.queue(automationScan, { automationId: id })
    }
  },
})
