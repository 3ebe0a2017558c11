import { job } from '#runtime/job'
import { object } from '#runtime/schema'
import { reconcile } from '../reconcile.ts'
import { failRun } from '../runs.ts'

export default job({
  description: 'Looks for messages that never came in, and puts them in their place.',
  payload: object({}),
  retry: { limit: 5, backoffSeconds: 15 },
  timeoutSeconds: 900,
  oneAtATimePer: () => 'reconcile',
  safeTwice: "A message is stored once by the provider's id; how far it came is saved with each page.",
  run: (ctx, _payload, { signal }) => reconcile(ctx, signal),
  failed: (ctx) => failRun(ctx, 'reconcile'),
})
