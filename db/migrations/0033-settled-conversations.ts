import { type Kysely, sql } from 'kysely'

/**
 * Until when closing settled what waited: kept after a conversation opens again, so that an answer that failed lets
 * only those wait again who wrote since. Where nobody waits, all that is stored is settled; else all before the first
 * message that waits.
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
