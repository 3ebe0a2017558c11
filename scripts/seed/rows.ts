/** Many rows in one statement: they travel as one JSON value, and PostgreSQL gives each column its type. */
import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import type { NewRow, Row, TenantTables } from '#db/tables'

/** A row as it is read back: objects for JSON columns, `Date` for instants, decimal text for money. */
export type SeedRow<T extends keyof TenantTables> = {
  [Column in keyof NewRow<T>]: Column extends keyof Row<T> ? Row<T>[Column] : never
} & { store_id?: string }

const rowsAtOnce = 2000

/**
 * Inserts rows of one store, all with the same columns; those whose id or unique value is there already stay as they
 * are. Answers how many were new.
 */
export async function insertRows<T extends keyof TenantTables>(
  db: RootDatabase,
  table: T,
  storeId: string,
  rows: readonly SeedRow<T>[],
): Promise<number> {
  let inserted = 0
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    const batch = rows.slice(start, start + rowsAtOnce).map((row) => ({ store_id: storeId, ...row }))
    const columns = sql.join(Object.keys(batch[0]!).map((column) => sql.ref(column)))
    const { numAffectedRows } = await sql`
      insert into ${sql.table(table)} (${columns})
      select ${columns} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(batch)}::jsonb)
      on conflict do nothing`.execute(db)
    inserted += Number(numAffectedRows ?? 0)
  }
  return inserted
}
