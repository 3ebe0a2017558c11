import { job } from '#runtime/job'
import { automationExecute } from '../../handles.ts'
import { endExecute, execute } from '../execute.ts'

export default job(automationExecute, {
  description: 'Starts a run of an automation for everybody it would have written to',
  retry: { limit: 5, backoffSeconds: 5 },
  timeoutSeconds: 600,
  oneAtATimePer: ({ automationId }) => automationId,
  safeTwice:
    'A run starts once per automation and entry key; the remaining count is updated in the same transaction.',
  run: (ctx, work, { signal }) => execute(ctx, work, signal),
  failed: (ctx, { automationId, jobId }) => endExecute(ctx, automationId, jobId),
})
