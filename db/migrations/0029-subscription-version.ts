import { type Kysely, sql } from 'kysely'

/** Offers know what they were priced on, agreements what their provider says of them, cycles what they took over. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // version: of all that an offer is priced on. agreement_status: as the provider last told.
  `alter table subscriptions add column version integer not null default 0, add column agreement_status text`,
  `update subscriptions set agreement_status = case
     when status in ('cancelled', 'ended') then 'cancelled'
     when status = 'paused' or pause_reason = 'provider' then 'paused'
     else 'authorized' end
   where agreement_id is not null`,
  // The earliest cycle whose messages count in this one; null: its own alone.
  `alter table usage_cycles add column counts_from timestamptz`,
]
