/** Something that the storefront shows is another now. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { publishIfMissing } from '../script/publication.ts'

/**
 * Raises the store's revision, in the caller's transaction: published settings are built anew. Called by each write of
 * a section that is on the storefront. While the loader is not known to be on the platform, it is put there.
 */
export async function changed(ctx: Context): Promise<void> {
  await ctx.db.updateTable('stores').set({ storefront_revision: sql`storefront_revision + 1` }).execute()
  await publishIfMissing(ctx)
}
