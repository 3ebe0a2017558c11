import { type Kysely, sql } from 'kysely'

/**
 * Outboxes of all sections get the same columns: `next_try_at`, the earliest next attempt, and `called_at`, when a
 * call that may still be with the provider began. Messages in progress continue.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['review_messages', 'exchange_notices', 'stock_subscriptions']) {
    await sql`alter table ${sql.table(table)}
      add column if not exists delivered_at timestamptz,
      add column if not exists read_at timestamptz,
      add column if not exists failed_at timestamptz`.execute(db)
  }
  // A claim is honoured for two minutes; a call with an unknown outcome may have sent the message.
  await sql`update direct_messages set
      called_at = case when may_have_left or (claimed_at is not null and next_try_at is null) then called_at end,
      next_try_at = coalesce(next_try_at, claimed_at + interval '2 minutes'),
      claimed_at = null
    where status = 'queued'`.execute(db)
}
