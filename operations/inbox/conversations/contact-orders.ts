/** The orders of a contact: by the match form of the phone, or of the matched customer. */
import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'

/** The customer on the newest order with the phone; null where none has one. */
export const matchedCustomer = (db: Kysely<TenantTables>, phoneKey: unknown) =>
  db
    .selectFrom('orders as n')
    .select('n.customer_id')
    .where(sql<boolean>`n.phone_key = ${phoneKey}`)
    .where('n.customer_id', 'is not', null)
    .orderBy('n.placed_at', 'desc')
    .orderBy('n.id', 'desc')
    .limit(1)

/** Whether an order, alias `o`, is the contact's. */
export const isOfContact = (db: Kysely<TenantTables>, phoneKey: unknown): Expression<SqlBool> =>
  sql<boolean>`(o.phone_key = ${phoneKey} or o.customer_id = (${matchedCustomer(db, phoneKey)}))`

/** Their newest order, or the one with this id where it is theirs. */
export function findOrder(ctx: Context, phoneKey: string, orderId?: string) {
  let rows = ctx.db
    .selectFrom('orders as o')
    .select([
      'o.id',
      'o.number',
      'o.status',
      'o.total',
      'o.currency',
      'o.tracking_code',
      'o.tracking_url',
      'o.customer_id',
    ])
    .where(isOfContact(ctx.db, phoneKey))
  if (orderId !== undefined) rows = rows.where('o.id', '=', orderId)
  return rows.orderBy('o.placed_at', 'desc').orderBy('o.id', 'desc').limit(1).executeTakeFirst()
}
