import { job } from '#runtime/job'
import { storefrontScriptPublish } from '../../handles.ts'
import { giveUp, install, retire } from '../publication.ts'

export default job(storefrontScriptPublish, {
  description: "Puts the loader of the store's widgets on its platform.",
  retry: { limit: 4, backoffSeconds: 15 },
  timeoutSeconds: 60,
  oneAtATimePer: () => 'script',
  safeTwice: 'The platform keeps one script for each address.',
  run: (ctx, { isEmbedded }) => (isEmbedded ? retire(ctx) : install(ctx)),
  async failed(ctx, { isEmbedded }) {
    // Two that do the same do no harm: a page that loads it twice runs it once.
    if (!isEmbedded) await giveUp(ctx)
  },
})
