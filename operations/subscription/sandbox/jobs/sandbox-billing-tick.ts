import { serverJob } from '#runtime/job'
import { deliverSandboxHooks } from '../../checkout-pages/billing-hook.ts'
import { sandboxBillingTick } from '../../handles.ts'
import { getSandboxBilling } from '../../provider/sandbox.ts'

export default serverJob(sandboxBillingTick, {
  description:
    'Simulates the billing provider of the sandbox: makes due charges, retries failed ones, sends the events.',
  retry: { limit: 1, backoffSeconds: 5 },
  timeoutSeconds: 120,
  oneAtATimePer: () => 'all',
  everySeconds: 60,
  sandboxOnly: true,
  safeTwice:
    'There is one payment for each agreement, due date and attempt; a repeated event has the same key.',
  async run(ctx) {
    const made = await getSandboxBilling(ctx.adapters.billing).runDue()
    await deliverSandboxHooks(ctx)
    // One step at a time: a test clock may jump over several steps, and the effects of each must be applied before the next.
    if (made > 0) await ctx.queue(sandboxBillingTick, {})
  },
})
