import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { receiveHook } from '../../callbacks/receive.ts'
import { getSandbox } from '../../provider/sandbox.ts'

export default serverJob(handle('sandbox-template-review', object({})), {
  description: 'Reviews the templates of the sandbox, five seconds after their submission',
  retry: { limit: 1, backoffSeconds: 2 },
  timeoutSeconds: 60,
  oneAtATimePer: () => 'all',
  everySeconds: 1,
  sandboxOnly: true,
  safeTwice: 'A review applies to one version, and its event is identified by template, status and time.',
  async run(ctx, _payload, { signal }) {
    for await (const { headers, body } of getSandbox(ctx.adapters.messaging).templates.dueEvents()) {
      await receiveHook(ctx, 'sandbox', headers, body)
      if (signal.aborted) break
    }
  },
})
