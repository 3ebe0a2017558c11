import { serverJob } from '#runtime/job'
import { providerEventApply } from '../../handles.ts'
import { applyDueEvents } from '../apply.ts'

/** Delays the next job: the queue uses the database's clock, and a job that starts too early finds nothing due. */
const marginMs = 250

export default serverJob(providerEventApply, {
  description: 'Applies provider events, and periodically any left over.',
  retry: { limit: 3, backoffSeconds: 5 },
  timeoutSeconds: 300,
  everySeconds: 60,
  safeTwice:
    'An event is locked, applied and marked in one transaction; a second run waits for it, and skips applied events.',
  async run(ctx, _payload, { signal }) {
    const at = await applyDueEvents(ctx, signal)
    if (at) await ctx.queue(providerEventApply, {}, { at: new Date(at.getTime() + marginMs) })
  },
})
