/** Marks the storefront as changed. */
import { stores } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { publishIfMissing } from '../script/publication.ts'

/**
 * Raises the store's revision in the caller's transaction, so that published settings are rebuilt. Every write of
 * something on the storefront calls it. If the loader is not known to be on the platform, it is installed.
 */
export async function markStorefrontChanged(ctx: Context): Promise<void> {
  await stores.incrementStorefrontRevision(ctx)
  await publishIfMissing(ctx)
}
