import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { receiveHook } from '../../callbacks/receive.ts'
import { getSandbox } from '../../provider/sandbox.ts'

const workMs = 20_000

export default serverJob(handle('sandbox-message-events', object({})), {
  description:
    'Tells what became of the messages of the sandbox, as a provider would: through the signed hook.',
  retry: { limit: 1, backoffSeconds: 2 },
  timeoutSeconds: 60,
  oneAtATimePer: () => 'all',
  everySeconds: 2,
  sandboxOnly: true,
  safeTwice: 'A status that was sent before has the same event key, and is ignored.',
  async run(ctx, _payload, { signal }) {
    const until = performance.now() + workMs
    for await (const { headers, body } of getSandbox(ctx.adapters.messaging).dueEvents()) {
      await receiveHook(ctx, 'sandbox', headers, body)
      if (signal.aborted || performance.now() > until) break
    }
  },
})
