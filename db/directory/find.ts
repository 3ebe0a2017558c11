/** The way from a value to its stores: one statement, on the coordinator where there is one. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'
import type { Kind } from './listed.ts'

/** Of any of the keys. A line may be older than its row: who follows it asks the row by its store and the key again. */
export async function storesListed(
  db: Kysely<Tables>,
  kind: Kind,
  keys: readonly string[],
): Promise<string[]> {
  if (keys.length === 0) return []
  const rows = await db
    .selectFrom('directory')
    .select('store_id')
    .distinct()
    // Within the text: so one PostgreSQL knows which table's index to ask before it plans.
    .where('kind', '=', sql.lit(kind))
    .where(sql<boolean>`key = any(${[...new Set(keys)]}::text[])`)
    .execute()
  return rows.map((row) => row.store_id)
}

/** Whether a column is of one of these stores: with one of them, which is said as such, Citus asks its shard alone. */
export const amongStores = (column: string, stores: readonly string[]) =>
  stores.length === 1
    ? sql<boolean>`${sql.ref(column)} = ${stores[0]}::uuid`
    : sql<boolean>`${sql.ref(column)} = any(${[...stores]}::uuid[])`
