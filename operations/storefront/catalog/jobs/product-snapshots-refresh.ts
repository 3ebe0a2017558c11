import { connections } from '#operations/store/index'
import { job } from '#runtime/job'
import { productSnapshotsRefresh } from '../../handles.ts'
import { sendLoaderUrl } from '../../script/publication.ts'
import { jobWaitMs, refreshCatalog, refreshProducts } from '../refresh.ts'

export default job(productSnapshotsRefresh, {
  description: "Refreshes the cache of the platform's catalog: the whole, or the named products.",
  retry: { limit: 4, backoffSeconds: 30 },
  // The slowest platform sends 10,000 products in an hour.
  timeoutSeconds: 7200,
  every: { seconds: 6 * 3600, stores: connections.connectedStores },
  oneAtATimePer: ({ productIds }) => productIds?.join(' ') ?? 'all',
  safeTwice: 'A snapshot is written only if the platform has newer data; reading again changes nothing.',
  async run(ctx, { productIds }, { signal }) {
    if (!productIds) {
      await refreshCatalog(ctx, signal)
      return sendLoaderUrl(ctx)
    }
    const connected = await connections.findEcommerce(ctx)
    if (connected) await refreshProducts(ctx, connected, productIds, { maxWaitMs: jobWaitMs, signal })
  },
})
