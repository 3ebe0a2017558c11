/** Units of an order that requests hold. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'

/** A request that still moves. */
export const openStatuses: readonly string[] = ['requested', 'approved', 'in-transit', 'received']

/** Requests about one order take turns, to the end of the transaction: no unit is taken twice. */
export async function lockOrder(ctx: Context, orderId: string): Promise<void> {
  const name = `exchange-order:${ctx.store.id}:${orderId}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(ctx.db)
}

/**
 * Units by order item in requests that hold theirs (what was approved once that is decided), those of deleted ones
 * that were completed too; one statement, so that a deletion meanwhile counts once.
 */
export async function unitsOf(
  ctx: Context,
  orderId: string,
): Promise<{ taken: ReadonlyMap<string, number>; hasOpenRequest: boolean }> {
  const rows = await ctx.db
    .selectFrom('exchange_requests as r')
    .innerJoin('exchange_items as i', 'i.request_id', 'r.id')
    .where('r.order_id', '=', orderId)
    .where('r.status', 'not in', ['rejected', 'cancelled', 'expired'])
    .select([
      'r.status',
      'i.order_item_id',
      sql<number>`coalesce(i.approved_quantity, i.quantity)`.as('units'),
    ])
    .unionAll(
      ctx.db
        .selectFrom('exchange_used_units as u')
        .where('u.order_id', '=', orderId)
        .select([sql<string>`'completed'`.as('status'), 'u.order_item_id', 'u.units']),
    )
    .execute()
  const taken = new Map<string, number>()
  for (const { order_item_id: id, units } of rows) taken.set(id, (taken.get(id) ?? 0) + units)
  return { taken, hasOpenRequest: rows.some(({ status }) => openStatuses.includes(status)) }
}
