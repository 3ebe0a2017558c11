/** Brings the mirror of the catalog up to date: the whole of it page by page, or some products. */

import type { EcommercePort, Product } from '#operations/store/door'
import { ancestryOf, connections } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { type Patience, paced } from './pace.ts'
import { markMissing, writeProducts } from './write.ts'

type Connected = connections.Connected<EcommercePort>

const pageSize = 100
const askedAtOnce = 50
/** Somebody waits for the answer. */
const shortMs = 10_000
/** For a platform that asks a job to slow down, at each call. */
export const jobPatienceMs = 300_000

/**
 * Reads the whole catalog; what was not met, and is not found when it is asked for by its id, is there no more. A
 * mirror of another connection is replaced whatever its age. Not inside a transaction; does nothing where no platform
 * is connected. Throws `Unavailable` where it does not answer: what was read stays.
 */
export async function refreshCatalog(ctx: Context, signal?: AbortSignal): Promise<void> {
  const connected = await connections.ecommerce(ctx)
  if (!connected) return
  const { port, store } = connected
  const patience = { patienceMs: jobPatienceMs, signal }
  const another = !(await isMirrorOf(ctx, connected))
  const ancestry = ancestryOf(await paced(store.id, patience, () => port.listCategories(store)))
  const met = new Set<string>()
  for (let page = 1; ; page += 1) {
    signal?.throwIfAborted()
    const query = { sort: 'name', page, limit: pageSize } as const
    const { products, total } = await paced(store.id, patience, () => port.searchProducts(store, query))
    for (const { id } of products) met.add(id)
    await write(ctx, connected, (tx) => writeProducts(tx, products, ancestry, { another }))
    if (products.length === 0 || page * pageSize >= total) break
  }
  const unmet = (await existing(ctx)).filter((id) => !met.has(id))
  // A product that was renamed meanwhile may have moved to a page that was read before.
  for (let i = 0; i < unmet.length; i += askedAtOnce) {
    signal?.throwIfAborted()
    await readProducts(ctx, connected, unmet.slice(i, i + askedAtOnce), { another, patience })
  }
  await write(ctx, connected, async (tx) => {
    await noteWhole(tx, connected)
    for (const told of tx.wired.catalogRead) await told(tx)
  })
}

/**
 * Reads these products; those that are not found are there no more. A platform that asks to slow down is waited for,
 * ten seconds where nothing else is said. Not inside a transaction.
 */
export async function refreshProducts(
  ctx: Context,
  connected: Connected,
  productIds: readonly string[],
  patience: Patience = { patienceMs: shortMs },
): Promise<void> {
  const ids = [...new Set(productIds)]
  for (let i = 0; i < ids.length; i += askedAtOnce) {
    await readProducts(ctx, connected, ids.slice(i, i + askedAtOnce), { another: false, patience })
  }
}

async function readProducts(
  ctx: Context,
  connected: Connected,
  ids: readonly string[],
  { another, patience }: { another: boolean; patience: Patience },
) {
  const { port, store } = connected
  const products: Product[] = await paced(store.id, patience, () =>
    port.getProducts(store, { ids: [...ids] }),
  )
  const ancestry =
    products.length > 0
      ? ancestryOf(await paced(store.id, patience, () => port.listCategories(store)))
      : new Map<string, string[]>()
  const found = new Set(products.map(({ id }) => id))
  const missing = ids.filter((id) => !found.has(id))
  await write(ctx, connected, async (tx) => {
    await writeProducts(tx, products, ancestry, { another })
    await markMissing(tx, missing)
  })
}

/** Throws, and so writes nothing, when the store was connected anew since the platform was asked. */
async function write(ctx: Context, connected: Connected, act: (tx: Context) => Promise<unknown>) {
  await ctx.observing().transaction(async (tx) => {
    const now = await connections.ecommerce(tx)
    if (now?.connectedAt.getTime() !== connected.connectedAt.getTime()) {
      throw new Error('The store was connected anew while its catalog was read')
    }
    await act(tx)
  })
}

async function isMirrorOf(ctx: Context, { connectedAt }: Connected): Promise<boolean> {
  const row = await ctx.db.selectFrom('catalog_mirrors').select('connected_at').executeTakeFirst()
  return row?.connected_at?.getTime() === connectedAt.getTime()
}

async function existing(ctx: Context): Promise<string[]> {
  const rows = await ctx.db
    .selectFrom('product_snapshots')
    .select('product_id')
    .where('exists', '=', true)
    .orderBy('product_id')
    .execute()
  return rows.map((row) => row.product_id)
}

async function noteWhole(ctx: Context, { connectedAt }: Connected): Promise<void> {
  const read = { connected_at: connectedAt, read_at: ctx.now() }
  await ctx.db
    .insertInto('catalog_mirrors')
    .values(read)
    .onConflict((conflict) => conflict.column('store_id').doUpdateSet(read))
    .execute()
}
