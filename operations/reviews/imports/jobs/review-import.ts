import { job } from '#runtime/job'
import { reviewImport } from '../../handles.ts'
import { failImport, runImport } from '../run.ts'

export default job(reviewImport, {
  description: 'Imports reviews from the rows of a file',
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 1800,
  oneAtATimePer: ({ importId }) => importId,
  isBulk: true,
  safeTwice:
    'Its progress is saved with every 200 rows, in their transaction; a review is unique by its import key.',
  run: (ctx, { importId }, { signal }) => runImport(ctx, importId, signal),
  failed: (ctx, { importId }) => failImport(ctx, importId),
})
