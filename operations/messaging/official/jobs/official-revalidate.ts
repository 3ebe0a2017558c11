import { Refusal } from '#runtime/errors'
import { job } from '#runtime/job'
import { officialRevalidate } from '../../handles.ts'
import { isSilent } from '../../numbers/provider.ts'
import { revalidate } from '../revalidate.ts'

export default job(officialRevalidate, {
  description: "Asks the provider how a store's official number stands",
  retry: { limit: 4, backoffSeconds: 60 },
  timeoutSeconds: 120,
  every: {
    seconds: 24 * 3600,
    stores: ({ root }) =>
      root
        .selectFrom('messaging_connections')
        .select('store_id')
        .where('type', '=', 'official')
        .where('credentials', 'is not', null),
  },
  oneAtATimePer: () => 'store',
  safeTwice: 'It sets what is true.',
  async run(ctx, _payload, { isLast }) {
    try {
      await revalidate(ctx)
    } catch (error) {
      // Disconnected meanwhile: there is nothing left to ask about.
      if (error instanceof Refusal && error.code === 'conflict') return
      if (!isSilent(error) || !isLast) throw error
      // A provider that is down is no news for the merchant: it is asked again tomorrow.
      ctx.log.warn({ err: error }, 'the provider did not say how the official number stands')
    }
  },
})
