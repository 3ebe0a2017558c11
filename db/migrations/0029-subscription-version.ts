import { type Kysely, sql } from 'kysely'

/** Quotes store the version that they were priced on, agreements the provider's status, cycles their predecessors. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // version: of everything that a quote depends on. agreement_status: as last reported by the provider.
  `alter table subscriptions add column version integer not null default 0, add column agreement_status text`,
  `update subscriptions set agreement_status = case
     when status in ('cancelled', 'ended') then 'cancelled'
     when status = 'paused' or pause_reason = 'provider' then 'paused'
     else 'authorized' end
   where agreement_id is not null`,
  // The earliest cycle whose messages count in this one; null: only its own.
  `alter table usage_cycles add column counts_from timestamptz`,
]
