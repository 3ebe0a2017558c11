import { type Kysely, sql } from 'kysely'

/** Adds the change of the credit balance by each payment. Earlier changes of the balance are not known by payment. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table payments add column balance_change numeric(14, 2) not null default 0`.execute(db)
}
