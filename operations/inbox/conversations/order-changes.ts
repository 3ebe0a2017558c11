/** Queues tier updates for contacts whose orders changed. */

import { sql } from 'kysely'
import type { orders } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { inboxContactTier } from '../handles.ts'

const atOnce = 200

/** Queues tier updates, in the transaction that writes the orders. */
export async function queueTierUpdates(ctx: Context, changes: orders.OrderChange[]): Promise<void> {
  const touched = changes.filter(affectsTier).map(({ after }) => after)
  const phoneKeys = [...new Set(touched.flatMap((order) => order.phone_key ?? []))]
  const customerIds = [...new Set(touched.flatMap((order) => order.customer_id ?? []))]
  if (phoneKeys.length === 0 && customerIds.length === 0) return
  const rows = await ctx.db
    .selectFrom('contacts as k')
    .select('k.id')
    // With a single array PostgreSQL uses the index; with an `or` it would scan all contacts.
    .where((eb) => {
      const ofCustomers = eb
        .selectFrom('orders as o')
        .select('o.phone_key')
        .where('o.phone_key', 'is not', null)
        .where(sql<boolean>`o.customer_id = any(${customerIds}::text[])`)
      return sql<boolean>`k.phone_key = any(${phoneKeys}::text[] || array(${ofCustomers}))`
    })
    .execute()
  const ids = rows.map((row) => row.id)
  for (let i = 0; i < ids.length; i += atOnce) {
    await ctx.queue(inboxContactTier, { contactIds: ids.slice(i, i + atOnce) })
  }
}

function affectsTier({ before, after }: orders.OrderChange): boolean {
  return (
    before === null ||
    before.payment_status !== after.payment_status ||
    before.status !== after.status ||
    before.refunded_total !== after.refunded_total ||
    before.phone_key !== after.phone_key ||
    before.customer_id !== after.customer_id ||
    before.customer_name !== after.customer_name
  )
}
