import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { tick } from '../tick.ts'

export default serverJob(handle('subscription-tick', object({})), {
  description:
    'Writes due transitions of every subscription, opens message cycles and sends trial reminders.',
  retry: { limit: 1, backoffSeconds: 10 },
  timeoutSeconds: 300,
  everySeconds: 60,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice:
    'A transition is written under the lock of its row, from its current state; notifications have dedupe keys.',
  // In the sandbox `sandbox-billing-tick` does it, after the simulated charges of the time that passed.
  run: async (ctx, _payload, { signal }) => {
    if (!ctx.services.settings.sandbox) await tick(ctx, signal)
  },
})
