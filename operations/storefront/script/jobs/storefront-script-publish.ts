import { job } from '#runtime/job'
import { storefrontScriptPublish } from '../../handles.ts'
import { giveUp, install } from '../publication.ts'

export default job(storefrontScriptPublish, {
  description: "Puts the loader of the store's widgets on its platform.",
  retry: { limit: 4, backoffSeconds: 15 },
  timeoutSeconds: 60,
  oneAtATimePer: () => 'script',
  safeTwice: 'The platform keeps one script for each address.',
  run: (ctx) => install(ctx),
  failed: (ctx) => giveUp(ctx),
})
