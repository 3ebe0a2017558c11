import { type Kysely, sql } from 'kysely'

/** When unsubscribes were last pulled from a store's email provider. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table newsletter_pulls (
    store_id uuid primary key references stores on delete cascade,
    list_id text not null, pulled_at timestamptz not null)`.execute(db)
}
