import { type Kysely, sql } from 'kysely'

/**
 * PostgreSQL estimates the frequency of a text by full indexes only: with a partial one it took every text for rare,
 * and read and sorted every row if all of them contain it.
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
