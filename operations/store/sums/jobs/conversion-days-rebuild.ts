import { job } from '#runtime/job'
import { conversionDaysRebuild } from '../../handles.ts'
import { rebuildDailySums } from '../rebuild-days.ts'

export default job(conversionDaysRebuild, {
  description: 'Rebuilds the daily sums of a store for its current time zone.',
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 1800,
  oneAtATimePer: () => 'store',
  safeTwice:
    'Each month is deleted and rebuilt in one transaction, under an exclusive lock that writers hold shared.',
  async run(ctx, _payload, { signal }) {
    await rebuildDailySums(ctx, () => !signal.aborted)
    if (signal.aborted) await ctx.queue(conversionDaysRebuild, {})
  },
})
