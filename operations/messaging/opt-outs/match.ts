import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'

/**
 * Whether the phone of a row is opted out, for any statement. `key`: its match form (`phoneKey`), a column or a value.
 * One index lookup per row.
 */
export const isOptedOut = (
  db: Pick<Kysely<TenantTables>, 'selectFrom'>,
  key: Expression<string>,
): RawBuilder<boolean> =>
  sql<boolean>`exists(${db.selectFrom('opt_outs as o').select('o.id').where('o.phone_key', '=', key)})`
