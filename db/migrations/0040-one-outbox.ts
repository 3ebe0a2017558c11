import { type Kysely, sql } from 'kysely'

/**
 * Messages of all sections tell the same instants, and wait in the same way: `next_try_at` says until when nobody touches
 * one, `called_at` since when it may be with the provider. What is under way goes on where it was.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['review_messages', 'exchange_notices', 'stock_subscriptions']) {
    await sql`alter table ${sql.table(table)}
      add column if not exists delivered_at timestamptz,
      add column if not exists read_at timestamptz,
      add column if not exists failed_at timestamptz`.execute(db)
  }
  // Who had one in hand is heard of for two minutes; a call of which nobody told the end may have left.
  await sql`update direct_messages set
      called_at = case when may_have_left or (claimed_at is not null and next_try_at is null) then called_at end,
      next_try_at = coalesce(next_try_at, claimed_at + interval '2 minutes'),
      claimed_at = null
    where status = 'queued'`.execute(db)
}
