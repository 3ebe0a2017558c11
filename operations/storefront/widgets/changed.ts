/** Something that the storefront shows is another now. */
import { stores } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { publishIfMissing } from '../script/publication.ts'

/**
 * Raises the store's revision, in the caller's transaction: published settings are built anew. Called by each write of
 * a section that is on the storefront. While the loader is not known to be on the platform, it is put there.
 */
export async function changed(ctx: Context): Promise<void> {
  await stores.raiseStorefrontRevision(ctx)
  await publishIfMissing(ctx)
}
