import { type Kysely, sql } from 'kysely'

/** How many wish for a product is shown beside it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index wishes_of_product on wishes (store_id, product_id) include (visitor_id)
    where removed_at is null`.execute(db)
}
