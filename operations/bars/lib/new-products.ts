/** Products that somebody names: those that were not named before must exist. */
import { snapshots } from '#operations/storefront/lib/door'
import type { Context } from '#runtime/context'
import { newlyNamed } from '#runtime/references'

/** Not inside a transaction: what the mirror does not know is asked of the platform. Refuses as `requireProducts`. */
export async function requireNewProducts(
  ctx: Context,
  before: readonly string[],
  after: readonly string[] | undefined,
  field: string,
): Promise<void> {
  await snapshots.requireProducts(ctx, newlyNamed(before, after ?? []), field)
}
