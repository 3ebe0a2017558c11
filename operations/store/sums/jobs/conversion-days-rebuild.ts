import { job } from '#runtime/job'
import { conversionDaysRebuild } from '../../handles.ts'
import { rebuildDays } from '../rebuild-days.ts'

export default job(conversionDaysRebuild, {
  description: 'Sums the days of a store anew, by its time zone of now.',
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 1800,
  oneAtATimePer: () => 'store',
  safeTwice: 'Each month is deleted and built again in one transaction, under a lock that writers share.',
  async run(ctx, _payload, { signal }) {
    await rebuildDays(ctx, () => !signal.aborted)
    if (signal.aborted) await ctx.queue(conversionDaysRebuild, {})
  },
})
