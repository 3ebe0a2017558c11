/** Finds stores by a value in the lookup index, with one statement. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'
import type { LookupKind } from './definitions.ts'

/** Finds the stores that have one of the keys. An entry may be outdated: check the key again in the store's row. */
export async function findStoreIds(
  db: Kysely<Tables>,
  kind: LookupKind,
  keys: readonly string[],
): Promise<string[]> {
  return [...(await findKeysByStore(db, kind, keys)).keys()]
}

/** Finds, for each store that has one of the keys, which of them it has. */
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
    // A literal, so that the planner keeps only the part of the view for this kind.
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
 * Whether a column has one of these stores' ids. A single id is compared by `=`, so that Citus queries only its shard.
 */
export const isInStores = (column: string, stores: readonly string[]) =>
  stores.length === 1
    ? sql<boolean>`${sql.ref(column)} = ${stores[0]}::uuid`
    : sql<boolean>`${sql.ref(column)} = any(${[...stores]}::uuid[])`
