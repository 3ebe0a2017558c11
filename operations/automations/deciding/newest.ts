/** Finds the newest cart and order of a store, for test messages. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import type { CartFacts, Line, OrderFacts } from './facts.ts'

interface Newest<F> {
  name: string | null
  email: string | null
  facts: F
}

export async function findNewestCart(ctx: Context): Promise<Newest<CartFacts> | null> {
  const row = await ctx.db
    .selectFrom('carts')
    .select(['id', 'total', 'currency', 'url', 'order_id', 'items', 'customer_name', 'customer_email'])
    .orderBy('last_activity_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!row) return null
  const { customer_name: name, customer_email: email, items, ...facts } = row
  return { name, email, facts: { ...facts, items: items as Line[] } }
}

export async function findNewestOrder(ctx: Context): Promise<Newest<OrderFacts> | null> {
  const row = await ctx.db
    .selectFrom('orders')
    .selectAll()
    .orderBy('placed_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!row) return null
  const items = await ctx.db
    .selectFrom('order_items')
    .select(['product_id as productId', 'name', 'quantity', sql<string>`total::text`.as('total')])
    .where('order_id', '=', row.id)
    .orderBy('position')
    .execute()
  return { name: row.customer_name, email: row.customer_email, facts: { ...row, items } }
}
