import { type Kysely, sql } from 'kysely'

/** Erased subscribers who are to be taken off the email provider's list before their email is erased. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table newsletter_subscribers add column erase_due boolean not null default false`.execute(
    db,
  )
  await sql`create index newsletter_subscribers_erase_due on newsletter_subscribers (store_id, updated_at)
    where erase_due`.execute(db)
}
