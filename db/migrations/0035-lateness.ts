import { type Kysely, sql } from 'kysely'

/** When a message was due before anything held it: how late it is, whatever it waited for. Null: nothing did. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table automation_executions add column due_at timestamptz`.execute(db)
}
