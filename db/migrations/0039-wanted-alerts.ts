import { type Kysely, sql } from 'kysely'

/** Alerts sent manually by the merchant ignore the stock; those of a rollout are sent only while it suffices. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table stock_subscriptions add column is_wanted boolean not null default false`.execute(db)
}
