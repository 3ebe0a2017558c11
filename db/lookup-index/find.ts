/** Finds stores by a value: one statement, on the coordinator of a cluster. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'
import type { LookupKind } from './definitions.ts'

/** The stores with one of the keys. An entry may be older than its row: check the key again in the store's row. */
export async function findStoreIds(
  db: Kysely<Tables>,
  kind: LookupKind,
  keys: readonly string[],
): Promise<string[]> {
  return [...(await findKeysByStore(db, kind, keys)).keys()]
}

/** The keys of each store. */
export async function findKeysByStore(
  db: Kysely<Tables>,
  kind: LookupKind,
  keys: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>()
  if (keys.length === 0) return found
  const rows = await db
    .selectFrom('directory')
    .select(['store_id', 'key'])
    // Inlined, so that one PostgreSQL selects the table's index while planning.
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

/**
 * Whether a column has one of these stores' ids; a single id is compared with `=`, so that Citus queries its shard
 * only.
 */
export const isInStores = (column: string, stores: readonly string[]) =>
  stores.length === 1
    ? sql<boolean>`${sql.ref(column)} = ${stores[0]}::uuid`
    : sql<boolean>`${sql.ref(column)} = any(${[...stores]}::uuid[])`
