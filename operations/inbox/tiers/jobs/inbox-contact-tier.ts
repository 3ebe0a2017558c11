import { job } from '#runtime/job'
import { inboxContactTier } from '../../handles.ts'
import { recalculateContacts } from '../segments.ts'

export default job(inboxContactTier, {
  description:
    'Computes the tier of contacts whose conversation or order is new, and the name on their order.',
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 60,
  safeTwice: 'It is computed from the orders, not added up.',
  run: (ctx, { contactIds }) => recalculateContacts(ctx, contactIds),
})
