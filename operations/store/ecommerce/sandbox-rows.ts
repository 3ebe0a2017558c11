/** Stores the data of the sandbox's shops: one table for all kinds of objects, whose `data` has the types of the port. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '#db/tables'
import type { Clock } from '#runtime/clock'
import { greatest } from '#runtime/database/sql'

/** The shop of one store in the sandbox. `db` may be a transaction. */
export interface Shop {
  db: Kysely<Tables>
  clock: Clock
  storeId: string
}

export type ObjectKind =
  | 'product'
  | 'category'
  | 'customer'
  | 'order'
  | 'cart'
  | 'script'
  | 'webhook'
  | 'coupon'
  | 'stock-taken'
  | 'discount'
  | 'discount-usage'

export interface ShopFacts {
  name: string
  slug: string
  domain: string
  country: string
  currency: string
  timezone: string
}

const rowsPerStatement = 500

/** Upserts objects of one kind. Existing objects keep their position in lists. */
export async function putObjects(
  shop: Shop,
  kind: ObjectKind,
  objects: readonly { id: string; data: object; updatedAt: string }[],
): Promise<void> {
  for (let i = 0; i < objects.length; i += rowsPerStatement) {
    const rows = objects
      .slice(i, i + rowsPerStatement)
      .map(({ id, data, updatedAt }) => ({ id, data, updated_at: updatedAt }))
    await sql`
      insert into sandbox_objects (store_id, kind, id, data, updated_at)
      select ${shop.storeId}::uuid, ${kind}::text, r.id, r.data, r.updated_at
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id text, data jsonb, updated_at timestamptz)
      on conflict (store_id, kind, id) do update set data = excluded.data, updated_at = excluded.updated_at`.execute(
      shop.db,
    )
  }
}

/** The objects with these ids, in no particular order. `lock`: locks the rows until the transaction ends. */
export async function findObjects<T>(
  shop: Shop,
  kind: ObjectKind,
  ids: readonly string[],
  lock = false,
): Promise<T[]> {
  if (ids.length === 0) return []
  let query = shop.db
    .selectFrom('sandbox_objects')
    .select('data')
    .where('store_id', '=', shop.storeId)
    .where('kind', '=', kind)
    .where('id', 'in', ids)
  if (lock) query = query.forUpdate()
  return (await query.execute()).map((row) => row.data as T)
}

/** All objects of a kind, oldest first. */
export async function listObjects<T>(shop: Shop, kind: ObjectKind): Promise<T[]> {
  const rows = await shop.db
    .selectFrom('sandbox_objects')
    .select('data')
    .where('store_id', '=', shop.storeId)
    .where('kind', '=', kind)
    .orderBy('position')
    .execute()
  return rows.map((row) => row.data as T)
}

/** The next number for an id: greater than every numeric id of the kind, and than `base`. Call it inside `withShopLock`. */
export async function nextNumber(shop: Shop, kind: ObjectKind, base: number): Promise<string> {
  const { rows } = await sql<{ next: string }>`
    select (${greatest(sql`coalesce(max(id::bigint), 0)`, sql`${base}::bigint`)} + 1)::text as next
    from sandbox_objects
    where store_id = ${shop.storeId}::uuid and kind = ${kind} and id ~ '^[0-9]{1,15}$'`.execute(shop.db)
  return rows[0]!.next
}

/** Runs `work` in a transaction under the shop's advisory lock. */
export async function withShopLock<T>(shop: Shop, work: (shop: Shop) => Promise<T>): Promise<T> {
  const locked = async (db: Kysely<Tables>): Promise<T> => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`sandbox-shop:${shop.storeId}`}, 0))`.execute(
      db,
    )
    return work({ ...shop, db })
  }
  return shop.db.isTransaction ? locked(shop.db) : shop.db.transaction().execute(locked)
}

/** Reads name, domain, country, currency and time zone of the shop from the store's row. */
export async function readShopFacts(shop: Shop): Promise<ShopFacts> {
  return shop.db
    .selectFrom('stores')
    .select(['name', 'slug', 'domain', 'country', 'currency', 'timezone'])
    .where('id', '=', shop.storeId)
    .executeTakeFirstOrThrow()
}

/** An instant in ISO 8601, which sorts chronologically as text. */
export const instantText = (at: Date | string): string => new Date(at).toISOString()
