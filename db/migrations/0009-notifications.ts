import { type Kysely, sql } from 'kysely'

/** The newest notifications of a store, without a look at the others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index notifications_newest on notifications (store_id, created_at, id)`.execute(db)
}
