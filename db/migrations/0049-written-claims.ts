import { type Kysely, sql } from 'kysely'

/** A claim on an Idempotency-Key under which something was committed: it is never run again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table idempotency_keys add column has_written boolean not null default false`.execute(db)
}
