import { job } from '#runtime/job'
import { object } from '#runtime/schema'
import { giveUp, install } from '../publication.ts'

export default job({
  description: "Puts the loader of the store's widgets on its platform.",
  payload: object({}),
  retry: { limit: 4, backoffSeconds: 15 },
  timeoutSeconds: 60,
  oneAtATimePer: () => 'script',
  safeTwice: 'The platform keeps one script for each address.',
  run: (ctx) => install(ctx),
  failed: (ctx) => giveUp(ctx),
})
