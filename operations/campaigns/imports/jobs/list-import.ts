import { job } from '#runtime/job'
import { listImport } from '../../handles.ts'
import { failImport, runImport } from '../run.ts'

export default job(listImport, {
  description: 'Fills a contact list from CSV rows, the platform or the popup',
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 1800,
  oneAtATimePer: ({ listId }) => listId,
  isBulk: true,
  safeTwice:
    'Each page writes contacts, counts and cursor in one transaction, under the lock of its list; a page whose cursor has moved on is dropped.',
  run: (ctx, { importId }, { signal }) => runImport(ctx, importId, signal),
  failed: (ctx, { importId }) => failImport(ctx, importId),
})
