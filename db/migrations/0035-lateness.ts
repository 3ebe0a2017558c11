import { type Kysely, sql } from 'kysely'

/** When a message was due before it was held, for its total delay. Null: it was never held. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table automation_executions add column due_at timestamptz`.execute(db)
}
