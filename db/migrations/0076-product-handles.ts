import { type Kysely, sql } from 'kysely'

/** Storefront pages name the products that they list by the handles in their addresses. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index product_snapshots_handle on product_snapshots (store_id, handle)`.execute(db)
}
