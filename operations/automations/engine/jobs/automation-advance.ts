import { job } from '#runtime/job'
import { automationAdvance } from '../../handles.ts'
import { advance } from '../advance.ts'

export default job(automationAdvance, {
  description: 'Sends what automations have due, at the pace of the number',
  retry: { limit: 5, backoffSeconds: 5 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ key }) => key,
  safeTwice:
    'An execution is claimed in the database before its message leaves, and leaves under a key of its own; its result is written once, by claim.',
  run: (ctx, work, { signal }) => advance(ctx, work, signal),
  // The sweep finds what is still due: there is nothing a merchant could do.
  async failed(ctx, work, reason) {
    ctx.log.error({ work, reason }, 'a run of automations was given up')
  },
})
