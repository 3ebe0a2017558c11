import { type Kysely, sql } from 'kysely'

/**
 * When closing last settled a conversation: kept after it is reopened, so that after a failed answer only people who
 * wrote later wait again. Backfill: everything is settled if nobody waits, otherwise everything before the first
 * waiting message.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table conversations add column settled_at timestamptz`,
  `update conversations c set settled_at = case
     when c.status = 'closed' then c.closed_at
     when c.waiting_since is null then c.updated_at
     else (
       select min(m.created_at) - interval '1 millisecond' from inbox_messages m
       where m.store_id = c.store_id and m.conversation_id = c.id
         and m.direction = 'inbound' and m.occurred_at >= c.waiting_since)
   end`,
]
