import { job } from '#runtime/job'
import { storefrontScriptPublish } from '../../handles.ts'
import { install, markFailed, removeScript } from '../publication.ts'

export default job(storefrontScriptPublish, {
  description: "Puts the loader of the store's widgets on its platform.",
  retry: { limit: 4, backoffSeconds: 15 },
  timeoutSeconds: 60,
  oneAtATimePer: () => 'script',
  safeTwice: 'The platform keeps one script for each address.',
  run: (ctx, { isEmbedded }) => (isEmbedded ? removeScript(ctx) : install(ctx)),
  async failed(ctx, { isEmbedded }) {
    // A script tag that could not be removed does no harm: a page that loads the script twice runs it once.
    if (!isEmbedded) await markFailed(ctx)
  },
})
