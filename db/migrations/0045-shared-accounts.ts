import { type Kysely, sql } from 'kysely'

/** Stores that share an account at the provider have the same templates. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index message_templates_provider`.execute(db)
  await sql`create unique index message_templates_provider on message_templates (provider_id, store_id)`.execute(
    db,
  )
}
