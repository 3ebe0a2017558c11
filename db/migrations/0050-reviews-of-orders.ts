import { type Kysely, sql } from 'kysely'

/** An index of an order's reviews, for the page behind a request's link and for review requests. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index product_reviews_order on product_reviews (store_id, order_id)
    where order_id is not null`.execute(db)
}
