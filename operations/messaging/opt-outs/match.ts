import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'

/**
 * SQL condition: whether the phone of a row is opted out. `key`: the phone's match form (`phoneKey`), a column or a
 * value. Costs one index lookup per row.
 */
export const isOptedOut = (
  db: Pick<Kysely<TenantTables>, 'selectFrom'>,
  key: Expression<string>,
): RawBuilder<boolean> =>
  sql<boolean>`exists(${db.selectFrom('opt_outs as o').select('o.id').where('o.phone_key', '=', key)})`
