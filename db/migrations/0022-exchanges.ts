import { type Kysely, sql } from 'kysely'

/** What shoppers ask to exchange or return, and how the store wants it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table exchange_settings (
    store_id uuid primary key references stores on delete cascade, content jsonb not null,
    created_at timestamptz not null, updated_at timestamptz not null)`,
]
