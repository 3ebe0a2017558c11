import { job } from '#runtime/job'
import { automationAdvance } from '../../handles.ts'
import { advance } from '../advance.ts'

export default job(automationAdvance, {
  description: 'Sends due messages of automations, at the rate of the number',
  retry: { limit: 5, backoffSeconds: 5 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ key }) => key,
  safeTwice:
    'An execution is claimed in the database before its message is sent, and is sent under its own key; its result is recorded once, by claim.',
  run: (ctx, work, { signal }) => advance(ctx, work, signal),
  // The merchant is not notified, because the sweep queues messages that are still due again.
  async failed(ctx, work, reason) {
    ctx.log.error({ work, reason }, 'automation run dead-lettered')
  },
})
