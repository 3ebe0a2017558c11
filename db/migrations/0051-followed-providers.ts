import { type Kysely, sql } from 'kysely'

/**
 * The time up to which all events of a store's billing provider are known: polling resumes there, however long the
 * server was down.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table subscriptions add column followed_at timestamptz`.execute(db)
  await sql`update subscriptions set followed_at = updated_at`.execute(db)
}
