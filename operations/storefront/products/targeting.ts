/** Targeting: the products that a resource applies to (rules 1 and 2). Shared by promotions and product-page sections. */

import type { Context } from '#runtime/context'
import { distinctList } from '#runtime/distinct-list'
import { refuse } from '#runtime/errors'
import { reference, requireReferences } from '#runtime/references'
import { z } from '#runtime/schema'
import * as snapshots from '../catalog/snapshots.ts'

/** Id of a product, variant or category, as the platform writes it. */
export const platformId = z.string().min(1).max(64).describe("The platform's own id")

const distinctIds = (kind: 'product' | 'category', atMost: number) =>
  distinctList(z.array(reference(kind, platformId)).max(atMost), 'must not name an id twice')

export const targetingFields = {
  scope: z.enum(['all', 'categories', 'products']),
  categoryIds: distinctIds('category', 50).describe(
    'Only for scope categories, including those below them; at least one then',
  ),
  productIds: distinctIds('product', 250).describe('Only for scope products; at least one then'),
  excludedProductIds: distinctIds('product', 250).describe('Never these, whatever the scope'),
}

const targeting = z.object(targetingFields)

export interface Targeting {
  scope: 'all' | 'categories' | 'products'
  categoryIds: string[]
  productIds: string[]
  excludedProductIds: string[]
}
export type TargetingChange = { [K in keyof Targeting]?: Targeting[K] | undefined }

export const everyProduct: Targeting = {
  scope: 'all',
  categoryIds: [],
  productIds: [],
  excludedProductIds: [],
}

/**
 * Merges a change. Fields left out keep their value, but lists that the scope does not use are emptied. Refuses a scope
 * whose list is empty.
 */
export function mergeTargeting(before: Targeting, change: TargetingChange): Targeting {
  const scope = change.scope ?? before.scope
  const merged = {
    scope,
    categoryIds: scope === 'categories' ? (change.categoryIds ?? before.categoryIds) : [],
    productIds: scope === 'products' ? (change.productIds ?? before.productIds) : [],
    excludedProductIds: change.excludedProductIds ?? before.excludedProductIds,
  }
  for (const [named, list] of [
    ['categories', 'categoryIds'],
    ['products', 'productIds'],
  ] as const) {
    if (scope === named && merged[list].length === 0) {
      throw refuse('bad_request', `${list}: must have at least one id while scope is ${named}`)
    }
  }
  return merged
}

/**
 * Checks the ids that are not in `before`, at the platform if the cache does not know them. Refuses unknown ids, naming
 * the field, and with `conflict` a store without a connected platform. Throws `Unavailable` if the platform does not
 * answer. Not inside a transaction.
 */
export async function requireTargets(
  ctx: Context,
  before: Targeting | null,
  after: Targeting,
): Promise<void> {
  await requireReferences(ctx, targeting, { before, after, kinds: ['product', 'category'], live: true })
}

/** Whether the targeting includes a product. `categoryIds` are the product's categories and all their ancestors. */
export function isTargeted(
  targeting: Targeting,
  product: { productId: string; categoryIds: readonly string[] },
): boolean {
  if (targeting.excludedProductIds.includes(product.productId)) return false
  if (targeting.scope === 'all') return true
  if (targeting.scope === 'products') return targeting.productIds.includes(product.productId)
  return product.categoryIds.some((id) => targeting.categoryIds.includes(id))
}

/**
 * Finds the product data that `isTargeted` needs, in the catalog cache or at the platform; null if neither knows the
 * product. Not inside a transaction.
 */
export async function findTarget(
  ctx: Context,
  productId: string,
): Promise<{ productId: string; categoryIds: readonly string[] } | null> {
  const known = (await snapshots.find(ctx, [productId])).get(productId)
  const found = known ?? (await snapshots.readLive(ctx, [productId])).get(productId)
  return found?.exists ? found : null
}
