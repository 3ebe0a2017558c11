/** Products that somebody names: those that were not named before must exist. */
import { snapshots } from '#operations/storefront/lib/door'
import type { Context } from '#runtime/context'

/** Not inside a transaction: what the mirror does not know is asked of the platform. Refuses as `requireProducts`. */
export async function requireNewProducts(
  ctx: Context,
  before: readonly string[],
  after: readonly string[] | undefined,
  field: string,
): Promise<void> {
  const added = [...new Set(after ?? [])].filter((id) => !before.includes(id))
  if (added.length > 0) await snapshots.requireProducts(ctx, added, field)
}
