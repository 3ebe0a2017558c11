/** Marks a store's storefront as changed, so that cached responses are rebuilt. */
import { stores } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { publishIfMissing } from '../script/publication.ts'

/**
 * Raises the store's revision in the caller's transaction. Every write of something that the storefront shows must call
 * this. Also installs the loader, unless it is known to be on the platform.
 */
export async function markStorefrontChanged(ctx: Context): Promise<void> {
  await stores.incrementStorefrontRevision(ctx)
  await publishIfMissing(ctx)
}
