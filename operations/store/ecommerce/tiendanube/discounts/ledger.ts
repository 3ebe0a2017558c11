/**
 * The discounts of a store, in its connection's settings: Tiendanube keeps only their names. A removed discount keeps its
 * revision. Connecting the store again begins with none, and the sync puts them again.
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '#db/tables'
import { Unavailable } from '#runtime/ports/errors'
import type { DiscountSpec } from '../../discounts.ts'

export interface LedgerEntry {
  revision: number
  /** Null until Tiendanube has given one, and of a removed discount. */
  platformId: string | null
  /** The id of the promotion that was removed: carts may still have it. */
  removedId?: string | null
  /** Null: removed. */
  spec: DiscountSpec | null
}

export class DiscountLedger {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  async read(storeId: string): Promise<Map<string, LedgerEntry>> {
    const { rows } = await sql<{ discounts: Record<string, LedgerEntry> | null }>`
      select settings -> 'discounts' as discounts from connections
      where store_id = ${storeId}::uuid and port = 'ecommerce' and connected_at is not null`.execute(this.#db)
    return new Map(Object.entries(rows[0]?.discounts ?? {}))
  }

  /** Writes an entry unless a higher revision is there. Returns the entry that was there before. */
  async write(
    storeId: string,
    reference: string,
    entry: { revision: number; spec: DiscountSpec | null },
  ): Promise<{ before: LedgerEntry | null; isWritten: boolean }> {
    const isRemoval = entry.spec === null
    const { rows } = await sql<{ before: LedgerEntry | null; is_written: boolean }>`
      with known as (
        select settings -> 'discounts' -> ${reference}::text as entry from connections
        where store_id = ${storeId}::uuid and port = 'ecommerce' and connected_at is not null for update
      ), written as (
        update connections c set settings = jsonb_set(coalesce(c.settings, '{}'), '{discounts}',
          coalesce(c.settings -> 'discounts', '{}') || jsonb_build_object(${reference}::text,
            jsonb_build_object(
              'platformId', case when not ${isRemoval}::boolean then known.entry -> 'platformId' end,
              'removedId', case when ${isRemoval}::boolean
                then coalesce(nullif(known.entry -> 'platformId', 'null'), known.entry -> 'removedId')
                else known.entry -> 'removedId' end
            ) || ${JSON.stringify(entry)}::jsonb))
        from known
        where c.store_id = ${storeId}::uuid and c.port = 'ecommerce'
          and coalesce((known.entry ->> 'revision')::bigint, 0) <= ${entry.revision}::bigint
        returning 1
      )
      select entry as before, exists (select 1 from written) as is_written from known`.execute(this.#db)
    const [row] = rows
    if (!row) throw new Unavailable('no', 'The store is not connected any more')
    return { before: row.before, isWritten: row.is_written }
  }

  /** Keeps the id that Tiendanube gave, unless another call has one already. Returns the kept id; null of a removed one. */
  async keepPlatformId(storeId: string, reference: string, platformId: string): Promise<string | null> {
    const path = sql`array['discounts', ${reference}::text, 'platformId']`
    await sql`
      update connections set settings = jsonb_set(settings, ${path}, to_jsonb(${platformId}::text))
      where store_id = ${storeId}::uuid and port = 'ecommerce' and settings #>> ${path} is null
        and jsonb_typeof(settings -> 'discounts' -> ${reference}::text -> 'spec') = 'object'`.execute(
      this.#db,
    )
    return (await this.read(storeId)).get(reference)?.platformId ?? null
  }
}
