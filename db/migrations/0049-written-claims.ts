import { type Kysely, sql } from 'kysely'

/** Of a claim on an Idempotency-Key: something was committed under it, so that it is never run a second time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table idempotency_keys add column has_written boolean not null default false`.execute(db)
}
