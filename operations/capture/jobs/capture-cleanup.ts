import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'
import { cleanUp } from '../cleanup.ts'

export default serverJob(handle('capture-cleanup', object({})), {
  description:
    'Drops old previews of popups, hashes of addresses, and staged rows of imports that have ended.',
  retry: { limit: 2, backoffSeconds: 60 },
  timeoutSeconds: 300,
  everySeconds: 3600,
  storeByStore: true,
  safeTwice: 'It deletes by age.',
  run: (ctx) => cleanUp(ctx),
})
