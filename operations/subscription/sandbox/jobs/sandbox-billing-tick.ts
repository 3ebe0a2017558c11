import { serverJob } from '#runtime/job'
import { tick } from '../../billing/tick.ts'
import { sandboxBillingTick } from '../../handles.ts'
import { runDueSteps } from '../due-steps.ts'

export default serverJob(sandboxBillingTick, {
  description:
    'Simulates the billing provider of the sandbox: makes due charges, retries failed ones, sends the events; then writes due transitions.',
  retry: { limit: 1, backoffSeconds: 5 },
  timeoutSeconds: 300,
  oneAtATimePer: () => 'all',
  everySeconds: 60,
  sandboxOnly: true,
  safeTwice:
    'There is one payment for each agreement, due date and attempt; a repeated event has the same key.',
  async run(ctx, _payload, { signal }) {
    await runDueSteps(ctx, signal)
    await tick(ctx, signal)
  },
})
