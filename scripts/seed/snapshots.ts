/** The mirror of the demo's catalogs, and their storefronts' loader: read from the sandbox's shops as a store's are. */
import { refreshCatalog } from '#operations/storefront/catalog/refresh'
import { install } from '#operations/storefront/script/publication'
import type { Context } from '#runtime/context'

/** Outside a transaction, once the shop is there. */
export async function seedSnapshots(ctx: Context): Promise<void> {
  await refreshCatalog(ctx)
  await install(ctx)
}
