import { type Kysely, sql } from 'kysely'

/**
 * How many rows hold a text, PostgreSQL asks of an index over all rows alone: of one over a part it took each text for
 * rare, and read and sorted every row where all of them have it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index campaigns_search`.execute(db)
  await sql`create index campaigns_search on campaigns using gin (store_id, lower(name) gin_trgm_ops)`.execute(
    db,
  )
  await sql`drop index stock_subscriptions_search`.execute(db)
  await sql`create index stock_subscriptions_search on stock_subscriptions using gin (store_id,
    lower(email) gin_trgm_ops, lower(name) gin_trgm_ops, lower(product_name) gin_trgm_ops, phone gin_trgm_ops)`.execute(
    db,
  )
}
