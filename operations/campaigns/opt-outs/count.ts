import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'

/**
 * Counts the opted-out contacts of a list. `listId` and `size` are columns or values of the enclosing query. The
 * expression iterates over the smaller table, contacts or opt-outs, and looks each row up in the other. `limit 1` forces
 * these lookups: without fresh statistics PostgreSQL would scan a list of 100,000 contacts for 8 opt-outs.
 */
export function countOptedOut(
  db: Kysely<TenantTables>,
  listId: RawBuilder<string>,
  size: RawBuilder<number>,
): RawBuilder<number> {
  const contact = db
    .selectFrom('list_contacts as x')
    .select('x.id')
    .where('x.list_id', '=', listId)
    .where('x.phone_key', '=', sql<string>`o.phone_key`)
    .limit(1)
  const optOut = db
    .selectFrom('opt_outs as o')
    .select('o.id')
    .where('o.phone_key', '=', sql<string>`x.phone_key`)
    .limit(1)
  const number = sql<number>`count(*)`.as('number')
  const ofOptOuts = db
    .selectFrom('opt_outs as o')
    .innerJoinLateral(contact.as('found'), (join) => join.onTrue())
    .select(number)
  const ofContacts = db
    .selectFrom('list_contacts as x')
    .innerJoinLateral(optOut.as('found'), (join) => join.onTrue())
    .select(number)
    .where('x.list_id', '=', listId)
  const optOuts = db.selectFrom('opt_outs').select(number)
  return sql<number>`case when ${size} < (${optOuts}) then (${ofContacts}) else (${ofOptOuts}) end`
}
