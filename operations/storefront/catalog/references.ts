/**
 * Checks ids of products and categories in request bodies, for all sections. An id that the catalog cache does not know is
 * looked up at the platform. With `live` every id is, since the cache may still have a deleted product.
 */
import { sql } from 'kysely'
import { connections, isAmong } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { LookupOptions, ReferenceLookup } from '#runtime/references'
import { find, type Snapshot } from './read.ts'
import { refreshProducts } from './refresh.ts'

const namedAtMost = 5

/**
 * The snapshots of these products, by id. Products missing from the cache are read live, once. Refuses unknown products
 * with a 400 that names `field`, and a store without a connected platform with 409. Throws `Unavailable` if the
 * platform does not answer. Not inside a transaction.
 */
export async function requireProducts(
  ctx: Context,
  productIds: readonly string[],
  field: string,
  { live = false }: LookupOptions = {},
): Promise<ReadonlyMap<string, Snapshot>> {
  const found = await readProducts(ctx, productIds, { live })
  const fault = describeMissing(
    'product',
    productIds.filter((id) => !found.get(id)?.exists),
  )
  if (fault) throw refuse('bad_request', `${field}: ${fault}`)
  return found
}

/** Looks up the products that a request body names. */
export const lookForProducts: ReferenceLookup = async (ctx, values, how) => {
  const found = await readProducts(ctx, values.map(String), how)
  return (named) =>
    describeMissing(
      'product',
      named.map(String).filter((id) => !found.get(id)?.exists),
    )
}

async function readProducts(
  ctx: Context,
  productIds: readonly string[],
  { live = false }: LookupOptions,
): Promise<ReadonlyMap<string, Snapshot>> {
  if (productIds.length === 0) return new Map()
  refuseTransaction(ctx)
  const found = await find(ctx, productIds)
  const unknown = live ? productIds : productIds.filter((id) => !found.get(id)?.exists)
  if (unknown.length === 0) return found
  await refreshProducts(ctx, await connections.requireEcommerce(ctx), unknown)
  return find(ctx, productIds)
}

/**
 * The snapshots of these products as the platform has them now. Unknown products are left out or have `exists` false.
 * Refuses with 409 without a connected platform; throws `Unavailable` if the platform does not answer. Not inside a
 * transaction.
 */
export async function readLive(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, Snapshot>> {
  refuseTransaction(ctx)
  await refreshProducts(ctx, await connections.requireEcommerce(ctx), productIds)
  return find(ctx, productIds)
}

/** Like `requireProducts`, but for categories. */
export async function requireCategories(
  ctx: Context,
  categoryIds: readonly string[],
  field: string,
  how: LookupOptions = {},
): Promise<void> {
  if (categoryIds.length === 0) return
  const fault = (await lookForCategories(ctx, categoryIds, how))(categoryIds)
  if (fault) throw refuse('bad_request', `${field}: ${fault}`)
}

/** Looks up the categories that a request body names. The cache knows a category if any cached product is in it. */
export const lookForCategories: ReferenceLookup = async (ctx, values, { live = false }) => {
  const categoryIds = values.map(String)
  refuseTransaction(ctx)
  const known = live ? new Set<string>() : await knownCategories(ctx, categoryIds)
  const isKnown = categoryIds.every((id) => known.has(id))
  const there = isKnown ? known : await existingCategories(ctx)
  return (named) =>
    describeMissing(
      'category',
      named.map(String).filter((id) => !known.has(id) && !there.has(id)),
    )
}

/** Ids of all categories of the shop, read from the platform. Not inside a transaction. */
export async function existingCategories(ctx: Context): Promise<ReadonlySet<string>> {
  const { port, store } = await connections.requireEcommerce(ctx)
  return new Set((await port.listCategories(store)).map(({ id }) => id))
}

async function knownCategories(ctx: Context, categoryIds: readonly string[]): Promise<Set<string>> {
  const inUse = ctx.db
    .selectFrom('product_snapshots')
    .where('exists', '=', true)
    .where(sql<boolean>`category_ids && ${[...categoryIds]}::text[]`)
    .select(sql<string>`unnest(category_ids)`.as('id'))
  const rows = await ctx.db
    .selectFrom(inUse.as('used'))
    .select('used.id')
    .distinct()
    .where(isAmong('used.id', categoryIds))
    .execute()
  return new Set(rows.map((row) => row.id))
}

function refuseTransaction(ctx: Context): void {
  if (ctx.inTransaction) throw new Error("The platform is asked: the operation must say transaction: 'own'")
}

function describeMissing(kind: 'product' | 'category', ids: readonly string[]): string | null {
  if (ids.length === 0) return null
  return `your platform has no ${kind} ${[...new Set(ids)].slice(0, namedAtMost).join(', ')}`
}
