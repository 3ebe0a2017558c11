/** Which products something is for (rules 1 and 2): shared by promotions and all that stands around a product. */

import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { reference, requireReferences } from '#runtime/references'
import { z } from '#runtime/schema'
import * as snapshots from '../catalog/snapshots.ts'

/** A product's, variant's or category's id, as the platform writes it. */
export const platformId = z.string().min(1).max(64).describe("The platform's own id")

const distinctIds = (kind: 'product' | 'category', atMost: number) =>
  z
    .array(reference(kind, platformId))
    .max(atMost)
    .refine((ids) => new Set(ids).size === ids.length, 'must not name an id twice')

export const targetingFields = {
  scope: z.enum(['all', 'categories', 'products']),
  categoryIds: distinctIds('category', 50).describe(
    'Of scope categories, with all below them; at least one then',
  ),
  productIds: distinctIds('product', 250).describe('Of scope products; at least one then'),
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

/** What is left out stays; the list that the scope does not name is emptied. Refuses a scope without ids. */
export function mergedTargeting(before: Targeting, change: TargetingChange): Targeting {
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
 * Asks the platform for the ids that `before` did not hold yet. Not inside a transaction. Refuses those it does not
 * know by their field; throws `Unavailable` where it does not answer, refuses with `conflict` where none is connected.
 */
export async function requireTargets(
  ctx: Context,
  before: Targeting | null,
  after: Targeting,
): Promise<void> {
  await requireReferences(ctx, targeting, { before, after, kinds: ['product', 'category'], live: true })
}

/** `categoryIds`: those of the product, with all above them. */
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
 * What `isTargeted` asks of a product, from the mirror, else from the platform; null where neither knows it. Not
 * inside a transaction.
 */
export async function findTarget(
  ctx: Context,
  productId: string,
): Promise<{ productId: string; categoryIds: readonly string[] } | null> {
  const known = (await snapshots.find(ctx, [productId])).get(productId)
  const found = known ?? (await snapshots.readLive(ctx, [productId])).get(productId)
  return found?.exists ? found : null
}
