/** Helpers of the sandbox pages: find the store, and deliver the sandbox platform's webhooks to our own endpoint. */
import { sql } from 'kysely'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { truncate } from '#runtime/values/truncate'
import { receiveEcommerceHook } from '../connections/ecommerce-hook.ts'
import type { PlatformOrder } from '../ecommerce/port.ts'
import type { Shop } from '../ecommerce/sandbox.ts'
import { buildOrderDeliveries, type Delivery } from '../ecommerce/sandbox-webhooks.ts'

/** Finds a store by id, slug or domain; 404 if there is none. */
export async function requireStoreId(ctx: SystemContext, idOrSlug: string): Promise<string> {
  const row = await ctx.root
    .selectFrom('stores')
    .select('id')
    .where(sql<boolean>`${idOrSlug} in (id::text, slug, domain)`)
    .executeTakeFirst()
  if (!row) throw refuse('not_found', `No store has the id or slug ${truncate(idOrSlug, 80)}`)
  return row.id
}

export const findSandboxShop = async (ctx: SystemContext, idOrSlug: string): Promise<Shop> => ({
  db: ctx.root,
  clock: ctx.clock,
  storeId: await requireStoreId(ctx, idOrSlug),
})

/** Passes webhooks to the code of their endpoint, including the signature check. */
export async function deliverWebhooks(ctx: SystemContext, deliveries: readonly Delivery[]): Promise<void> {
  for (const { url, headers, body } of deliveries) {
    const [provider, storeId] = new URL(url).pathname.split('/').slice(-2)
    const from = { provider: provider!, storeId: storeId! }
    await receiveEcommerceHook(ctx, from, new Headers(headers), Buffer.from(body))
  }
}

export const deliverOrder = async (ctx: SystemContext, shop: Shop, order: PlatformOrder): Promise<void> =>
  deliverWebhooks(ctx, await buildOrderDeliveries(shop, order))

/** Turns a `Refused` that the sandbox throws into a 400 response. */
export async function refusedAsBadRequest<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refused) throw refuse('bad_request', error.message)
    throw error
  }
}
