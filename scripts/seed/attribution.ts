/** The last step: attributes the orders as a job would, and checks the touches of all steps. */
import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { attributeOrders } from '#operations/store/conversions/attribute-orders'
import type { Context } from '#runtime/context'
import type { DemoShop } from './shop.ts'

const ordersAtOnce = 300

/** Attributes all orders. Throws unless the conversions match `expected`, by source type. */
export async function attributeShop(
  ctx: Context,
  shop: DemoShop,
  expected: Record<string, number>,
): Promise<void> {
  const ids = shop.orders.map((each) => each.id)
  await ctx.transaction(async (tx) => {
    for (let i = 0; i < ids.length; i += ordersAtOnce)
      await attributeOrders(tx, ids.slice(i, i + ordersAtOnce))
  })
  const rows = await ctx.db
    .selectFrom('conversions')
    .select(['source_type', (eb) => eb.fn.countAll<number>().as('conversions')])
    .groupBy('source_type')
    .execute()
  const found = Object.fromEntries(rows.map((row) => [row.source_type, row.conversions]))
  for (const source of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    if (found[source] === expected[source]) continue
    throw new Error(
      `The demo of ${ctx.store.name} has ${found[source] ?? 0} conversions of ${source}: expected ${expected[source] ?? 0}`,
    )
  }
}

/** Sets the usage of the current cycle to the number of messages in the ledger that were sent since its start. */
export async function countUsage(db: RootDatabase, storeId: string): Promise<void> {
  await db
    .updateTable('usage_cycles')
    .set((eb) => ({
      used: eb
        .selectFrom('message_ledger as m')
        .select(sql<number>`count(*)::int`.as('used'))
        .whereRef('m.store_id', '=', 'usage_cycles.store_id')
        .where('m.channel', '=', 'messaging')
        .whereRef('m.sent_at', '>=', 'usage_cycles.starts_at')
        .whereRef('m.sent_at', '<', 'usage_cycles.ends_at'),
    }))
    .where('store_id', '=', storeId)
    .execute()
}
