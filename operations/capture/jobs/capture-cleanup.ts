import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { cleanUp } from '../cleanup.ts'

export default serverJob(handle('capture-cleanup', object({})), {
  description: 'Deletes old previews of popups, hashes of IP addresses, and staged rows of finished imports.',
  retry: { limit: 2, backoffSeconds: 60 },
  timeoutSeconds: 300,
  everySeconds: 3600,
  storeByStore: true,
  safeTwice: 'It deletes by age.',
  run: (ctx) => cleanUp(ctx),
})
