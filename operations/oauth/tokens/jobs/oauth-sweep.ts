import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { sweep } from '../sweep.ts'

export default serverJob(handle('oauth-sweep', object({})), {
  description: 'Deletes expired codes, grants and registrations of assistants, and their ended keys',
  retry: { limit: 2, backoffSeconds: 60 },
  timeoutSeconds: 600,
  everySeconds: 3600,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice: 'It only deletes; deleted rows are not found again.',
  run: (ctx) => sweep(ctx),
})
