import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { sweep } from '../sweep.ts'

export default serverJob(handle('oauth-sweep', object({})), {
  description:
    'Deletes codes, grants and registrations of assistants that are over, and their keys that ended',
  retry: { limit: 2, backoffSeconds: 60 },
  timeoutSeconds: 600,
  everySeconds: 3600,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice: 'It deletes; what is gone is not found again.',
  run: (ctx) => sweep(ctx),
})
