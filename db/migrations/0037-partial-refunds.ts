import { type Kysely, sql } from 'kysely'

/** The refunded part of a payment: a provider may refund partially. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['payments', 'sandbox_payments']) {
    await sql`alter table ${sql.table(table)} add column refunded numeric(14,2) not null default 0`.execute(
      db,
    )
  }
  await sql`update payments set refunded = amount where status = 'refunded'`.execute(db)
  await sql`update sandbox_payments set refunded = amount where status in ('refunded', 'charged-back')`.execute(
    db,
  )
}
