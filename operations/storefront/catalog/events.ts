/** Handles platform events about products and stock: queues a refresh of the named products. */

import { type events, isAmong } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { productSnapshotsRefresh } from '../handles.ts'

const atOnce = 50

type Events = readonly events.StoredEvent[]

export async function productsChanged(ctx: Context, received: Events): Promise<void> {
  await queueRefresh(ctx, received.flatMap(parseIds))
}

/** Handles stock events. Some platforms name a variant in them, others a product. */
export async function stockChanged(ctx: Context, received: Events): Promise<void> {
  const ids = received.flatMap(parseIds)
  const rows = await ctx.db
    .selectFrom('product_snapshot_variants')
    .select(['product_id', 'variant_id'])
    .where(isAmong('variant_id', ids))
    .execute()
  const variants = new Set(rows.map((row) => row.variant_id))
  await queueRefresh(ctx, [...rows.map((row) => row.product_id), ...ids.filter((id) => !variants.has(id))])
}

function parseIds({ data }: Events[number]): string[] {
  const { id, productId } = (data ?? {}) as { id?: unknown; productId?: unknown }
  if (typeof productId === 'string' && productId !== '') return [productId]
  return typeof id === 'string' && id !== '' ? [id] : []
}

async function queueRefresh(ctx: Context, productIds: readonly string[]): Promise<void> {
  const ids = [...new Set(productIds)].sort()
  for (let i = 0; i < ids.length; i += atOnce) {
    await ctx.queue(productSnapshotsRefresh, { productIds: ids.slice(i, i + atOnce) })
  }
}

/** Queues a full catalog read, in the transaction that connects the store. */
export async function catalogConnected(ctx: Context): Promise<void> {
  await ctx.queue(productSnapshotsRefresh, {})
}
