import { job } from '#runtime/job'
import { inboxReconcile } from '../../handles.ts'
import { reconcile } from '../reconcile.ts'
import { failRun } from '../runs.ts'

export default job(inboxReconcile, {
  description: 'Looks for messages that never came in, and puts them in their place.',
  retry: { limit: 5, backoffSeconds: 15 },
  timeoutSeconds: 900,
  oneAtATimePer: () => 'reconcile',
  safeTwice: "A message is stored once by the provider's id; its progress is saved with each page.",
  run: (ctx, _payload, { signal }) => reconcile(ctx, signal),
  failed: (ctx) => failRun(ctx, 'reconcile'),
})
