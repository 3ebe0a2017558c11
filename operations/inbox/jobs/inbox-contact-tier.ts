import { job } from '#runtime/job'
import { object, z } from '#runtime/schema'
import { refreshOrderNames } from '../lib/contacts.ts'
import { recalculate, tierSettingsOf } from '../lib/tiers.ts'

export default job({
  description:
    'Computes the tier of contacts whose conversation or order is new, and the name on their order.',
  payload: object({ contactIds: z.array(z.string()).min(1).max(500) }),
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 60,
  safeTwice: 'It is computed from the orders, not added up.',
  async run(ctx, { contactIds }) {
    await ctx.transaction(async (tx) => {
      await refreshOrderNames(tx, contactIds)
      await recalculate(tx, await tierSettingsOf(tx), contactIds)
    })
  },
})
