/** Reads the catalog cache. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { sanitizeText } from '#runtime/values/sanitize'

interface SnapshotVariant {
  variantId: string
  name: string
  sku: string | null
  imageUrl: string | null
  /** Decimal text. */
  price: string
  compareAtPrice: string | null
  stock: number | null
  isAvailable: boolean
}

export interface Snapshot {
  productId: string
  name: string
  handle: string
  url: string
  imageUrl: string | null
  brand: string | null
  tags: string[]
  /** The product's categories and all their ancestors. */
  categoryIds: string[]
  price: string
  compareAtPrice: string | null
  currency: string
  stock: number | null
  isPublished: boolean
  exists: boolean
  createdAt: Date
  variants: SnapshotVariant[]
}

export type ItemStatus = 'available' | 'out-of-stock' | 'unpublished' | 'missing'

/** The products with these ids, by id. Products that were never in the cache are left out. One statement. */
export async function find(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, Snapshot>> {
  if (productIds.length === 0) return new Map()
  const rows = await ctx.db
    .selectFrom('product_snapshots as p')
    .leftJoinLateral(
      (db) =>
        db
          .selectFrom('product_snapshot_variants as v')
          .whereRef('v.product_id', '=', 'p.product_id')
          .select(
            sql<SnapshotVariant[]>`coalesce(json_agg(json_build_object(
              'variantId', v.variant_id, 'name', v.name, 'sku', v.sku, 'imageUrl', v.image_url,
              'price', v.price::text, 'compareAtPrice', v.compare_at_price::text, 'stock', v.stock,
              'isAvailable', v.is_available) order by v.position), '[]')`.as('all'),
          )
          .as('variants'),
      (join) => join.onTrue(),
    )
    .select([
      'p.product_id as productId',
      'p.name',
      'p.handle',
      'p.url',
      'p.image_url as imageUrl',
      'p.brand',
      'p.tags',
      'p.category_ids as categoryIds',
      sql<string>`p.price::text`.as('price'),
      sql<string | null>`p.compare_at_price::text`.as('compareAtPrice'),
      'p.currency',
      'p.stock',
      'p.is_published as isPublished',
      'p.exists',
      'p.platform_created_at as createdAt',
      'variants.all as variants',
    ])
    .where('p.product_id', 'in', [...new Set(productIds)])
    .execute()
  return new Map(rows.map((row) => [row.productId, { ...row, variants: row.variants ?? [] }]))
}

/** Maps handles, as they are written in addresses, to the ids of existing products. One statement. */
export async function findByHandle(
  ctx: Context,
  written: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (written.length === 0) return new Map()
  const rows = await ctx.db
    .selectFrom('product_snapshots')
    .select(['product_id', 'handle'])
    .where('handle', 'in', written.map(decodeHandle))
    .where('exists', '=', true)
    .orderBy('platform_created_at')
    .execute()
  const ids = new Map(rows.map((row) => [row.handle, row.product_id]))
  return new Map(
    written.flatMap((each): [string, string][] => {
      const id = ids.get(decodeHandle(each))
      return id === undefined ? [] : [[each, id]]
    }),
  )
}

function decodeHandle(written: string): string {
  try {
    return sanitizeText(decodeURIComponent(written))
  } catch {
    return written
  }
}

/** Maps each of these variants to its existing product. */
export async function findProductsOfVariants(
  ctx: Context,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (variantIds.length === 0) return new Map()
  const rows = await ctx.db
    .selectFrom('product_snapshot_variants as v')
    .innerJoin('product_snapshots as p', 'p.product_id', 'v.product_id')
    .select(['v.variant_id', 'v.product_id'])
    .where('v.variant_id', 'in', [...new Set(variantIds)])
    .where('p.exists', '=', true)
    .execute()
  return new Map(rows.map((row) => [row.variant_id, row.product_id]))
}

/** The status of a variant; without a variant, the status of the product over all its variants. */
export function getStatus(snapshot: Snapshot | undefined, variantId: string | null = null): ItemStatus {
  if (!snapshot?.exists) return 'missing'
  const among =
    variantId === null
      ? snapshot.variants
      : snapshot.variants.filter((variant) => variant.variantId === variantId)
  if (variantId !== null && among.length === 0) return 'missing'
  if (!snapshot.isPublished) return 'unpublished'
  return among.length > 0 && among.every((variant) => variant.stock === 0) ? 'out-of-stock' : 'available'
}
