import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { cleanFiles } from '../clean.ts'

export default serverJob(handle('files-clean', object({})), {
  description: 'Deletes files past their date, and uploads that nothing has used for 24 hours',
  retry: { limit: 2, backoffSeconds: 60 },
  timeoutSeconds: 1800,
  everySeconds: 3600,
  storeByStore: true,
  oneAtATimePer: () => 'all',
  safeTwice: 'A file is doomed under a lock, its uses looked at again; deleting what is gone succeeds.',
  run: (ctx, _payload, { signal }) => cleanFiles(ctx, signal),
})
