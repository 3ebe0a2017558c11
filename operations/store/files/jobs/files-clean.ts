import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { cleanFiles } from '../clean.ts'

export default serverJob(handle('files-clean', object({})), {
  description: 'Deletes expired files, and files unused for 24 hours',
  retry: { limit: 2, backoffSeconds: 60 },
  timeoutSeconds: 1800,
  everySeconds: 3600,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice:
    'A file is expired under a lock, then its uses are checked again; deleting a missing file succeeds.',
  run: (ctx, _payload, { signal }) => cleanFiles(ctx, signal),
})
