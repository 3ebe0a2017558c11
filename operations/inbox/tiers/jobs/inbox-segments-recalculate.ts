import { job } from '#runtime/job'
import { object } from '#runtime/schema'
import { failRun } from '../../switch/runs.ts'
import { recalculateAll } from '../segments.ts'

export default job({
  description: "Computes every contact's tier from the orders.",
  payload: object({}),
  retry: { limit: 5, backoffSeconds: 15 },
  timeoutSeconds: 900,
  oneAtATimePer: () => 'segments',
  safeTwice: 'It is computed from the orders, not added up; the last contact is saved with each batch.',
  run: (ctx, _payload, { signal }) => recalculateAll(ctx, signal),
  failed: (ctx) => failRun(ctx, 'segments'),
})
