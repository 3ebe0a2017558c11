import { type Kysely, sql } from 'kysely'

/** Up to when all is known that the billing provider told of a store: it is asked from there on, however long it was away. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table subscriptions add column followed_at timestamptz`.execute(db)
  await sql`update subscriptions set followed_at = updated_at`.execute(db)
}
