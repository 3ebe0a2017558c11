/** Refreshes the catalog cache: the whole catalog page by page, or single products. */

import type { EcommercePort, Product } from '#operations/store/index'
import { buildAncestry, connections, isAmong } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { readPages } from '#runtime/ports/pagination'
import { callThrottled, type WaitOptions } from './throttling.ts'
import { markMissing, writeProducts } from './write.ts'

type Connected = connections.Connected<EcommercePort>

const pageSize = 100
const batchSize = 50
/** Maximum wait for a throttling platform while a person waits for the response. */
const interactiveWaitMs = 10_000
/** Maximum wait for a throttling platform in a job, per call. */
export const jobWaitMs = 300_000

/** The job that reads the whole catalog runs every 6 hours. */
const intervalMs = 6 * hourMs

/**
 * Reads the whole catalog. If the platform lists cheaply when products were changed, reads only the changed ones and a
 * quarter of the others, because not every change has a date, such as that of a category. Cached products that the
 * catalog does not contain are looked up by id, and marked as missing if not found. If the cache is of another connection, older products replace newer cached ones too. Throws `Unavailable` if
 * the platform does not answer; the products read until then stay written. Does nothing without a connected platform. Not
 * inside a transaction.
 */
export async function refreshCatalog(ctx: Context, signal?: AbortSignal): Promise<void> {
  const connected = await connections.findEcommerce(ctx)
  if (!connected) return
  const { port, store } = connected
  const options = { maxWaitMs: jobWaitMs, signal }
  const another = !(await isCacheOf(ctx, connected))
  const ancestry = buildAncestry(await callThrottled(store.id, options, () => port.listCategories(store)))
  const met = new Set<string>()
  const pages = port.listProductDates
    ? readDueProducts(ctx, connected, { another, options, met })
    : readAllProducts(connected, options, met)
  for await (const products of pages) {
    signal?.throwIfAborted()
    await write(ctx, connected, (tx) => writeProducts(tx, products, ancestry, { another }))
  }
  const unmet = (await listExisting(ctx)).filter((id) => !met.has(id))
  // A product may be absent only because it was renamed during the read, and so moved to a page that was read already.
  for (let i = 0; i < unmet.length; i += batchSize) {
    signal?.throwIfAborted()
    await readProducts(ctx, connected, unmet.slice(i, i + batchSize), { another, options })
  }
  await write(ctx, connected, async (tx) => {
    await recordFullRead(tx, connected)
    for (const notify of tx.extensions.catalogRead) await notify(tx)
  })
}

/** Yields all products, page by page. Adds their ids to `met`. */
async function* readAllProducts(
  { port, store }: Connected,
  options: WaitOptions,
  met: Set<string>,
): AsyncGenerator<Product[]> {
  for (let page = 1; ; page += 1) {
    const query = { sort: 'name', page, limit: pageSize } as const
    const { products, total } = await callThrottled(store.id, options, () =>
      port.searchProducts(store, query),
    )
    for (const { id } of products) met.add(id)
    yield products
    if (products.length === 0 || page * pageSize >= total) break
  }
}

/** Yields the products that are not cached as they are now, and a quarter of the others. Adds all ids to `met`. */
async function* readDueProducts(
  ctx: Context,
  { port, store }: Connected,
  { another, options, met }: { another: boolean; options: WaitOptions; met: Set<string> },
): AsyncGenerator<Product[]> {
  const turn = Math.floor(ctx.clock.ms() / intervalMs) % 4
  const read = (cursor: string | null) =>
    callThrottled(store.id, options, () => port.listProductDates!(store, cursor))
  for await (const page of readPages(read, ({ next }) => next)) {
    for (const { id } of page.products) met.add(id)
    const cached = another ? new Map<string, number>() : await readCachedDates(ctx, page.products)
    const due = page.products.filter(
      ({ id, updatedAt }) =>
        cached.get(id) !== Date.parse(updatedAt) || id.charCodeAt(id.length - 1) % 4 === turn,
    )
    for (let i = 0; i < due.length; i += batchSize) {
      const ids = due.slice(i, i + batchSize).map(({ id }) => id)
      yield await callThrottled(store.id, options, () => port.getProducts(store, { ids }))
    }
  }
}

async function readCachedDates(
  ctx: Context,
  products: readonly { id: string }[],
): Promise<Map<string, number>> {
  const ids = products.map(({ id }) => id)
  const rows = await ctx.db
    .selectFrom('product_snapshots')
    .select(['product_id', 'platform_updated_at'])
    .where(isAmong('product_id', ids))
    .where('exists', '=', true)
    .execute()
  return new Map(rows.map((row) => [row.product_id, row.platform_updated_at.getTime()]))
}

/**
 * Refreshes these products; products that the platform does not find are marked as missing. If the platform throttles,
 * waits up to ten seconds or as long as `options` allow. Not inside a transaction.
 */
export async function refreshProducts(
  ctx: Context,
  connected: Connected,
  productIds: readonly string[],
  options: WaitOptions = { maxWaitMs: interactiveWaitMs },
): Promise<void> {
  const ids = [...new Set(productIds)]
  for (let i = 0; i < ids.length; i += batchSize) {
    await readProducts(ctx, connected, ids.slice(i, i + batchSize), { another: false, options })
  }
}

async function readProducts(
  ctx: Context,
  connected: Connected,
  ids: readonly string[],
  { another, options }: { another: boolean; options: WaitOptions },
) {
  const { port, store } = connected
  const products: Product[] = await callThrottled(store.id, options, () =>
    port.getProducts(store, { ids: [...ids] }),
  )
  const ancestry =
    products.length > 0
      ? buildAncestry(await callThrottled(store.id, options, () => port.listCategories(store)))
      : new Map<string, string[]>()
  const found = new Set(products.map(({ id }) => id))
  const missing = ids.filter((id) => !found.has(id))
  await write(ctx, connected, async (tx) => {
    await writeProducts(tx, products, ancestry, { another })
    await markMissing(tx, missing)
  })
}

/** Writes what was read. Throws and writes nothing if the store has been reconnected since the platform was called. */
async function write(ctx: Context, connected: Connected, act: (tx: Context) => Promise<unknown>) {
  await ctx.detached().transaction(async (tx) => {
    const now = await connections.findEcommerce(tx)
    if (now?.connectedAt.getTime() !== connected.connectedAt.getTime()) {
      throw new Error('The store was reconnected while its catalog was read')
    }
    await act(tx)
  })
}

async function isCacheOf(ctx: Context, { connectedAt }: Connected): Promise<boolean> {
  const row = await ctx.db.selectFrom('catalog_mirrors').select('connected_at').executeTakeFirst()
  return row?.connected_at?.getTime() === connectedAt.getTime()
}

async function listExisting(ctx: Context): Promise<string[]> {
  const rows = await ctx.db
    .selectFrom('product_snapshots')
    .select('product_id')
    .where('exists', '=', true)
    .orderBy('product_id')
    .execute()
  return rows.map((row) => row.product_id)
}

async function recordFullRead(ctx: Context, { connectedAt }: Connected): Promise<void> {
  const read = { connected_at: connectedAt, read_at: ctx.now() }
  await ctx.db
    .insertInto('catalog_mirrors')
    .values(read)
    .onConflict((conflict) => conflict.column('store_id').doUpdateSet(read))
    .execute()
}
