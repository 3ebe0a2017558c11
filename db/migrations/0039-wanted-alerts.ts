import { type Kysely, sql } from 'kysely'

/** Alerts that the merchant sends by hand leave whatever the stock is; those of a wave only while it is enough. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table stock_subscriptions add column is_wanted boolean not null default false`.execute(db)
}
