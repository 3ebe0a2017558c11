/** Finds the orders of a contact: those with the contact's phone, and all orders of the customer of the newest one. */
import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'

/** Selects the customer id of the newest order with this phone. */
export const selectMatchedCustomer = (db: Kysely<TenantTables>, phoneKey: unknown) =>
  db
    .selectFrom('orders as n')
    .select('n.customer_id')
    .where(sql<boolean>`n.phone_key = ${phoneKey}`)
    .where('n.customer_id', 'is not', null)
    .orderBy('n.placed_at', 'desc')
    .orderBy('n.id', 'desc')
    .limit(1)

/** An SQL condition: whether an order belongs to the contact. Needs the alias `o` of `orders`. */
export const belongsToContact = (db: Kysely<TenantTables>, phoneKey: unknown): Expression<SqlBool> =>
  sql<boolean>`(o.phone_key = ${phoneKey} or o.customer_id = (${selectMatchedCustomer(db, phoneKey)}))`

/** Finds the contact's newest order, or the order with `orderId` if it belongs to the contact. */
export function findContactOrder(ctx: Context, phoneKey: string, orderId?: string) {
  let rows = ctx.db
    .selectFrom('orders as o')
    .select([
      'o.id',
      'o.number',
      'o.status',
      'o.payment_status',
      'o.total',
      'o.currency',
      'o.tracking_code',
      'o.tracking_url',
      'o.customer_id',
    ])
    .where(belongsToContact(ctx.db, phoneKey))
  if (orderId !== undefined) rows = rows.where('o.id', '=', orderId)
  return rows.orderBy('o.placed_at', 'desc').orderBy('o.id', 'desc').limit(1).executeTakeFirst()
}
