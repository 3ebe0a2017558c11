import { job } from '#runtime/job'
import { inboxSegmentsRecalculate } from '../../handles.ts'
import { failRun } from '../../switch/runs.ts'
import { recalculateAll } from '../segments.ts'

export default job(inboxSegmentsRecalculate, {
  description: "Computes every contact's tier from the orders.",
  retry: { limit: 5, backoffSeconds: 15 },
  timeoutSeconds: 900,
  oneAtATimePer: () => 'segments',
  safeTwice: 'It is computed from the orders, not added up; the last contact is saved with each batch.',
  run: (ctx, _payload, { signal }) => recalculateAll(ctx, signal),
  failed: (ctx) => failRun(ctx, 'segments'),
})
