/** What the platform tells of products and stock: those products are read again. */

import { type events, isAmong } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { productSnapshotsRefresh } from '../handles.ts'

const atOnce = 50

type Events = readonly events.StoredEvent[]

export async function productsChanged(ctx: Context, told: Events): Promise<void> {
  await queueRefresh(ctx, told.flatMap(idsIn))
}

/** Stock is told of by variant, or by product. */
export async function stockChanged(ctx: Context, told: Events): Promise<void> {
  const ids = told.flatMap(idsIn)
  const rows = await ctx.db
    .selectFrom('product_snapshot_variants')
    .select(['product_id', 'variant_id'])
    .where(isAmong('variant_id', ids))
    .execute()
  const variants = new Set(rows.map((row) => row.variant_id))
  await queueRefresh(ctx, [...rows.map((row) => row.product_id), ...ids.filter((id) => !variants.has(id))])
}

function idsIn({ data }: Events[number]): string[] {
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

/** In the transaction that connects: the catalog is read whole. */
export async function catalogConnected(ctx: Context): Promise<void> {
  await ctx.queue(productSnapshotsRefresh, {})
}
