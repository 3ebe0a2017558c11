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
  return [...(await keysByStore(db, kind, keys)).keys()]
}

/** The same, with the keys of each of the stores. */
export async function keysByStore(
  db: Kysely<Tables>,
  kind: Kind,
  keys: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>()
  if (keys.length === 0) return found
  const rows = await db
    .selectFrom('directory')
    .select(['store_id', 'key'])
    // Within the text: so one PostgreSQL knows which table's index to ask before it plans.
    .where('kind', '=', sql.lit(kind))
    .where(sql<boolean>`key = any(${[...new Set(keys)]}::text[])`)
    .execute()
  for (const { store_id: store, key } of rows) {
    const its = found.get(store)
    if (its) its.push(key)
    else found.set(store, [key])
  }
  return found
}

/** Whether a column is of one of these stores: with one of them, which is said as such, Citus asks its shard alone. */
export const amongStores = (column: string, stores: readonly string[]) =>
  stores.length === 1
    ? sql<boolean>`${sql.ref(column)} = ${stores[0]}::uuid`
    : sql<boolean>`${sql.ref(column)} = any(${[...stores]}::uuid[])`
