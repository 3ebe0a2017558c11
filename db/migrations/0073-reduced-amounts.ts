import { type Kysely, sql } from 'kysely'

/** Why a request's amount is less than its units are worth: the order was refunded at the platform, for example. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table exchange_requests add column amount_reason text`.execute(db)
}
