/** The sandbox's outside world: which store is meant, and the platform's webhooks delivered to our own door. */
import { sql } from 'kysely'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { cut } from '#runtime/values/cut'
import { receiveEcommerceHook } from '../connections/ecommerce-hook.ts'
import type { PlatformOrder } from '../ecommerce/port.ts'
import type { Shop } from '../ecommerce/sandbox.ts'
import { type Delivery, orderDeliveries } from '../ecommerce/sandbox-webhooks.ts'

/** The id of the store with this id, slug or domain; refused with 404. */
export async function requireStoreId(ctx: SystemContext, idOrSlug: string): Promise<string> {
  const row = await ctx.root
    .selectFrom('stores')
    .select('id')
    .where(sql<boolean>`${idOrSlug} in (id::text, slug, domain)`)
    .executeTakeFirst()
  if (!row) throw refuse('not_found', `No store has the id or slug ${cut(idOrSlug, 80)}`)
  return row.id
}

export const sandboxShop = async (ctx: SystemContext, idOrSlug: string): Promise<Shop> => ({
  db: ctx.root,
  clock: ctx.clock,
  storeId: await requireStoreId(ctx, idOrSlug),
})

/** Delivers webhooks to the hook they were registered for, through its signature check. */
export async function deliver(ctx: SystemContext, deliveries: readonly Delivery[]): Promise<void> {
  for (const { url, headers, body } of deliveries) {
    const [provider, storeId] = new URL(url).pathname.split('/').slice(-2)
    const from = { provider: provider!, storeId: storeId! }
    await receiveEcommerceHook(ctx, from, new Headers(headers), Buffer.from(body))
  }
}

export const deliverOrder = async (ctx: SystemContext, shop: Shop, order: PlatformOrder): Promise<void> =>
  deliver(ctx, await orderDeliveries(shop, order))

/** What the sandbox refuses of a caller's request is a 400 here. */
export async function asBadRequest<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refused) throw refuse('bad_request', error.message)
    throw error
  }
}
