import { type Kysely, sql } from 'kysely'

/** An index for the newest notifications of a store. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index notifications_newest on notifications (store_id, created_at, id)`.execute(db)
}
