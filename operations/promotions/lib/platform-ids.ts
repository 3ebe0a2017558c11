/** Ids that a caller brings in are asked of the platform itself: its mirror may still know what is gone. */
import { connections } from '#operations/store/lib/door'
import { snapshots } from '#operations/storefront/lib/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'

const namedAtMost = 5

/**
 * The products as the platform has them now, by id. Not inside a transaction. Refuses those that it does not have,
 * naming `field`; refuses with `conflict` where no platform is connected; throws `Unavailable` where it does not answer.
 */
export async function requireProductsOnPlatform(
  ctx: Context,
  productIds: readonly string[],
  field: string,
): Promise<ReadonlyMap<string, snapshots.Snapshot>> {
  if (productIds.length === 0) return new Map()
  const found = await snapshots.readLive(ctx, productIds)
  refuseUnknown(
    'product',
    productIds.filter((id) => !found.get(id)?.exists),
    field,
  )
  return found
}

/** As above, of categories. */
export async function requireCategoriesOnPlatform(
  ctx: Context,
  categoryIds: readonly string[],
  field: string,
): Promise<void> {
  if (categoryIds.length === 0) return
  const known = await existingCategories(ctx)
  refuseUnknown(
    'category',
    categoryIds.filter((id) => !known.has(id)),
    field,
  )
}

/** Ids of all categories of the platform. Not inside a transaction. */
export async function existingCategories(ctx: Context): Promise<ReadonlySet<string>> {
  const { port, store } = await connections.requireEcommerce(ctx)
  return new Set((await port.listCategories(store)).map(({ id }) => id))
}

function refuseUnknown(kind: 'product' | 'category', ids: readonly string[], field: string): void {
  if (ids.length === 0) return
  const named = [...new Set(ids)].slice(0, namedAtMost).join(', ')
  throw refuse('bad_request', `${field}: your platform has no ${kind} ${named}`)
}
