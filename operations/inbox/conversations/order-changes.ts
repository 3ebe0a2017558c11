/** An order that counts, or counts no more, may move its contact to another tier. */

import { sql } from 'kysely'
import type { orders } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { inboxContactTier } from '../handles.ts'

const atOnce = 200

/** In the transaction that writes the mirror. */
export async function ordersChanged(ctx: Context, changes: orders.OrderChange[]): Promise<void> {
  const touched = changes.filter(isOfInterest).map(({ after }) => after)
  const phoneKeys = [...new Set(touched.flatMap((order) => order.phone_key ?? []))]
  const customerIds = [...new Set(touched.flatMap((order) => order.customer_id ?? []))]
  if (phoneKeys.length === 0 && customerIds.length === 0) return
  const rows = await ctx.db
    .selectFrom('contacts as k')
    .select('k.id')
    // As one list, which the index is looked into with: as a condition with an `or` every contact would be looked at.
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

function isOfInterest({ before, after }: orders.OrderChange): boolean {
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
