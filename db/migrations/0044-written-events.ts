import { type Kysely, sql } from 'kysely'

/**
 * Catches up messages from while the inbox was off, also from before the number was connected, in their last state.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index provider_events_written on provider_events (store_id, occurred_at, id)
    where port = 'messaging' and kind in ('inbound', 'echo', 'history')`.execute(db)
  await sql`drop index provider_events_inbound`.execute(db)
  await sql`create index provider_events_changed
    on provider_events (store_id, (payload->'data'->>'providerMessageId'))
    where port = 'messaging' and kind = 'message-change'`.execute(db)
}
