import { type Kysely, sql } from 'kysely'

/** How many phones of an import are of another country than the store's: a sign of misread numbers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table list_imports add column foreign_phones integer not null default 0`.execute(db)
}
