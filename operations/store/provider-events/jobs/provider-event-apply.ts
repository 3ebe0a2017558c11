import { serverJob } from '#runtime/job'
import { providerEventApply } from '../../handles.ts'
import { applyDueEvents } from '../apply.ts'

/** The queue goes by the database's clock: a job that came early would find nothing due. */
const marginMs = 250

export default serverJob(providerEventApply, {
  description: 'Applies what providers told us, and by the clock what was left over.',
  retry: { limit: 3, backoffSeconds: 5 },
  timeoutSeconds: 300,
  everySeconds: 60,
  safeTwice:
    'An event is locked, applied and marked in one transaction; a second run waits for it, and passes over what is marked.',
  async run(ctx, _payload, { signal }) {
    const at = await applyDueEvents(ctx, signal)
    if (at) await ctx.queue(providerEventApply, {}, { at: new Date(at.getTime() + marginMs) })
  },
})
