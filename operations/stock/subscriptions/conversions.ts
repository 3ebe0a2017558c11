/** Records on stock subscriptions which order they led to. */
import { sql } from 'kysely'
import { type attribution, isAmong, isCountedConversion } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'

/** Sets the first counted order of each subscription, in the transaction that writes the conversions. */
export async function applyConversions(
  ctx: Context,
  changes: readonly attribution.ConversionChange[],
): Promise<void> {
  const ids = new Set(
    changes.flatMap(({ before, after }) => [before?.source_id, after?.source_id]).filter((id) => id != null),
  )
  const known = [...ids].filter(isId).sort()
  if (known.length === 0) return
  const first = ctx.db
    .selectFrom('conversions as c')
    .distinctOn('c.source_id')
    .select(['c.source_id', 'c.placed_at', 'c.order_id', 'c.revenue', 'c.currency'])
    .where('c.source_type', '=', 'stock-notification')
    .where(isAmong('c.source_id', known))
    .where(isCountedConversion('c'))
    .orderBy('c.source_id')
    .orderBy('c.placed_at')
    .orderBy('c.id')
  const found = ctx.db
    .selectFrom('stock_subscriptions as k')
    .leftJoin(first.as('f'), (join) => join.on(sql<boolean>`f.source_id = k.id::text`))
    .select(['k.id', 'f.placed_at', 'f.order_id', 'f.revenue', 'f.currency'])
    .where(isAmong('k.id', known, 'uuid'))
  await ctx.db
    .updateTable('stock_subscriptions as s')
    .from(found.as('b'))
    .set((eb) => ({
      converted_at: eb.ref('b.placed_at'),
      converted_order_id: eb.ref('b.order_id'),
      revenue: eb.ref('b.revenue'),
      currency: eb.ref('b.currency'),
      updated_at: ctx.now(),
    }))
    .whereRef('s.id', '=', 'b.id')
    .where(
      sql<boolean>`(s.converted_at, s.converted_order_id, s.revenue, s.currency)
        is distinct from (b.placed_at, b.order_id, b.revenue, b.currency)`,
    )
    .execute()
}
