import { serverJob } from '#runtime/job'
import { deliverSandboxHooks } from '../../checkout-pages/billing-hook.ts'
import { sandboxBillingTick } from '../../handles.ts'
import { sandboxBillingOf } from '../../provider/sandbox.ts'

export default serverJob(sandboxBillingTick, {
  description:
    'Plays the billing provider of the sandbox by the clock: charges what is due, tries again what failed, tells of it.',
  retry: { limit: 1, backoffSeconds: 5 },
  timeoutSeconds: 120,
  oneAtATimePer: () => 'all',
  everySeconds: 60,
  sandboxOnly: true,
  safeTwice:
    'There is one payment for each agreement, due date and attempt; what was told has the same event key.',
  async run(ctx) {
    const made = await sandboxBillingOf(ctx.adapters.billing).runDue()
    await deliverSandboxHooks(ctx)
    // One step at a time, so that what follows from it is done before the next: a clock may jump over several.
    if (made > 0) await ctx.queue(sandboxBillingTick, {})
  },
})
