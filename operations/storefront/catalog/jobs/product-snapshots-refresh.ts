import { connections } from '#operations/store/door'
import { job } from '#runtime/job'
import { productSnapshotsRefresh } from '../../handles.ts'
import { remind } from '../../script/publication.ts'
import { jobPatienceMs, refreshCatalog, refreshProducts } from '../refresh.ts'

export default job(productSnapshotsRefresh, {
  description: "Brings the mirror of the platform's catalog up to date: all of it, or the products named.",
  retry: { limit: 4, backoffSeconds: 30 },
  timeoutSeconds: 1800,
  every: { seconds: 6 * 3600, stores: connections.connectedStores },
  oneAtATimePer: ({ productIds }) => productIds?.join(' ') ?? 'all',
  safeTwice:
    'A snapshot is written only where the platform says something newer; reading again changes nothing.',
  async run(ctx, { productIds }, { signal }) {
    if (!productIds) {
      await refreshCatalog(ctx, signal)
      return remind(ctx)
    }
    const connected = await connections.ecommerce(ctx)
    if (connected) await refreshProducts(ctx, connected, productIds, { patienceMs: jobPatienceMs, signal })
  },
})
