import { type Kysely, sql } from 'kysely'

/** What an order's own reviews are found by: the page behind a request's link looks for them, and whoever asks for a review. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index product_reviews_order on product_reviews (store_id, order_id)
    where order_id is not null`.execute(db)
}
