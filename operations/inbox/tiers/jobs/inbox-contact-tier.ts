import { job } from '#runtime/job'
import { object, z } from '#runtime/schema'
import { recalculateContacts } from '../segments.ts'

export default job({
  description:
    'Computes the tier of contacts whose conversation or order is new, and the name on their order.',
  payload: object({ contactIds: z.array(z.string()).min(1).max(500) }),
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 60,
  safeTwice: 'It is computed from the orders, not added up.',
  run: (ctx, { contactIds }) => recalculateContacts(ctx, contactIds),
})
