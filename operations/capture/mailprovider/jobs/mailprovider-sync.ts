import { job } from '#runtime/job'
import { mailproviderSync } from '../../handles.ts'
import { failSync, runSync } from '../syncs.ts'

export default job(mailproviderSync, {
  description: 'Pushes the newsletter subscribers to the email provider.',
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 3600,
  safeTwice: 'The provider keeps one member per email; answers and cursor are written per batch.',
  run: (ctx, { syncId }, { signal }) => runSync(ctx, syncId, signal),
  failed: (ctx, { syncId }) => failSync(ctx, syncId, 'The email provider did not answer: try again later.'),
})
