/** Writes the catalog cache and notifies extensions of changed products. */
import { createHash } from 'node:crypto'
import type { Ancestry, Product } from '#operations/store/index'
import { columnNames, excludedColumns, isAmong, recordset, sanitizeProduct } from '#operations/store/index'
import type { Context } from '#runtime/context'

const types = {
  product_id: 'text',
  name: 'text',
  handle: 'text',
  url: 'text',
  image_url: 'text',
  brand: 'text',
  tags: 'text[]',
  category_ids: 'text[]',
  price: 'numeric',
  compare_at_price: 'numeric',
  currency: 'text',
  stock: 'integer',
  is_published: 'boolean',
  exists: 'boolean',
  platform_created_at: 'timestamptz',
  platform_updated_at: 'timestamptz',
  digest: 'text',
  checked_at: 'timestamptz',
}
const columns = columnNames(types)

const variantTypes = {
  product_id: 'text',
  variant_id: 'text',
  name: 'text',
  sku: 'text',
  image_url: 'text',
  price: 'numeric',
  compare_at_price: 'numeric',
  stock: 'integer',
  is_available: 'boolean',
  position: 'integer',
}
const variantColumns = columnNames(variantTypes)

type Written = ReturnType<typeof toRows>

/**
 * Upserts products in the caller's transaction. Skips a product that is older than the cached one, unless the cache belongs
 * to another connection (`another`). Returns the ids of changed products.
 */
export async function writeProducts(
  ctx: Context,
  products: readonly Product[],
  ancestry: Ancestry,
  { another = false } = {},
): Promise<string[]> {
  if (products.length === 0) return []
  const written = [...new Map(products.map((product) => [product.id, product])).values()]
    // Sorted, so that two transactions with the same products lock them in the same order and cannot deadlock.
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((product) => toRows(sanitizeProduct(product), ancestry, ctx.now()))
  const known = await lockExisting(
    ctx,
    written.map(({ row }) => row.product_id),
  )
  const newer = written.filter(({ row }) => {
    const before = known.get(row.product_id)
    if (!before) return true
    const at = Date.parse(row.platform_updated_at)
    if (!another && at < before.updatedAt) return false
    return at !== before.updatedAt || before.digest !== row.digest || !before.exists
  })
  if (newer.length === 0) return []
  await ctx.db
    .insertInto('product_snapshots')
    .columns(columns)
    .expression((db) =>
      db
        .selectFrom(
          recordset(
            types,
            newer.map(({ row }) => row),
          ),
        )
        .select(columns),
    )
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'product_id']).doUpdateSet(excludedColumns(types, ['product_id'])),
    )
    .execute()
  const changed = newer.filter(({ row }) => {
    const before = known.get(row.product_id)
    return !before?.exists || before.digest !== row.digest
  })
  await replaceVariants(ctx, changed)
  const ids = changed.map(({ row }) => row.product_id)
  await notifyChanged(ctx, ids)
  return ids
}

/** Marks products that the platform no longer has as missing. Their last data stays for resources that still name them. */
export async function markMissing(ctx: Context, productIds: readonly string[]): Promise<string[]> {
  if (productIds.length === 0) return []
  await lockExisting(ctx, productIds)
  const missing = await ctx.db
    .updateTable('product_snapshots')
    .set({ exists: false, checked_at: ctx.now() })
    .where(isAmong('product_id', productIds))
    .where('exists', '=', true)
    .returning('product_id')
    .execute()
  const ids = missing.map((row) => row.product_id)
  await notifyChanged(ctx, ids)
  return ids
}

interface Existing {
  digest: string
  exists: boolean
  updatedAt: number
}

async function lockExisting(ctx: Context, ids: readonly string[]): Promise<ReadonlyMap<string, Existing>> {
  const rows = await ctx.db
    .selectFrom('product_snapshots')
    .select(['product_id', 'digest', 'exists', 'platform_updated_at'])
    .where(isAmong('product_id', ids))
    .orderBy('product_id')
    .forUpdate()
    .execute()
  return new Map(
    rows.map((row) => [
      row.product_id,
      { digest: row.digest, exists: row.exists, updatedAt: row.platform_updated_at.getTime() },
    ]),
  )
}

async function replaceVariants(ctx: Context, changed: readonly Written[]): Promise<void> {
  if (changed.length === 0) return
  const ids = changed.map(({ row }) => row.product_id)
  await ctx.db.deleteFrom('product_snapshot_variants').where(isAmong('product_id', ids)).execute()
  const rows = changed.flatMap(({ variants }) => variants)
  await ctx.db
    .insertInto('product_snapshot_variants')
    .columns(variantColumns)
    .expression((db) => db.selectFrom(recordset(variantTypes, rows)).select(variantColumns))
    .execute()
}

/**
 * Notifies extensions of changed products, then raises the revision. This order avoids deadlocks: a transaction that waits
 * for the revision's row then holds no lock that an extension needs.
 */
async function notifyChanged(ctx: Context, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  for (const tell of ctx.extensions.productsChanged) await tell(ctx, ids)
  await ctx.db
    .insertInto('catalog_mirrors')
    .values({ revision: 1 })
    .onConflict((conflict) =>
      conflict.column('store_id').doUpdateSet((eb) => ({ revision: eb('catalog_mirrors.revision', '+', 1) })),
    )
    .execute()
}

function toRows(product: Product, ancestry: Ancestry, now: Date) {
  const categories = new Set(product.categories.flatMap(({ id }) => ancestry.get(id) ?? [id]))
  const content = {
    product_id: product.id,
    name: product.name,
    handle: product.handle,
    url: product.url,
    image_url: product.imageUrl,
    brand: product.brand,
    tags: product.tags,
    category_ids: [...categories].sort(),
    price: product.price,
    compare_at_price: product.compareAtPrice,
    currency: product.currency,
    stock: product.stock,
    is_published: product.isPublished,
    exists: true,
    platform_created_at: product.createdAt,
  }
  const variants = product.variants.map((variant, position) => ({
    product_id: product.id,
    variant_id: variant.id,
    name: variant.name,
    sku: variant.sku,
    image_url: variant.imageUrl,
    price: variant.price,
    compare_at_price: variant.compareAtPrice,
    stock: variant.stock,
    is_available: variant.isAvailable,
    position,
  }))
  const digest = createHash('sha1')
    .update(JSON.stringify([content, variants]))
    .digest('base64url')
  const row = {
    ...content,
    platform_updated_at: product.updatedAt,
    digest,
    checked_at: now.toISOString(),
  }
  return { row, variants }
}
