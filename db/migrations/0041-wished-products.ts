import { type Kysely, sql } from 'kysely'

/** An index for counting the wishes of a product. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index wishes_of_product on wishes (store_id, product_id) include (visitor_id)
    where removed_at is null`.execute(db)
}
