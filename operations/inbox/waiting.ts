/**
 * Since when a contact waits for an answer: the one definition, of the messages themselves. By when they were written,
 * not by when they arrived; what was written before closing is settled with it.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'

type Db = Kysely<TenantTables>

/** When the first message was written that nobody answered, of the row of `conversations` that is updated. */
export function waitingSince(db: Db): RawBuilder<Date | null> {
  const messages = db
    .selectFrom('inbox_messages as w')
    .where('w.conversation_id', '=', sql.ref<string>('conversations.id'))
  // An answer is one by a person; one that never arrived answers nobody.
  const answered = messages
    .select(sql`max(w.occurred_at)`.as('at'))
    .where('w.direction', '=', 'outbound')
    .where('w.type', '<>', 'reaction')
    .where('w.status', '<>', 'failed')
    .where((eb) =>
      eb.or([eb('w.sent_by', 'is not', null), eb('w.source', 'in', ['agent', 'api', 'provider'])]),
    )
  const waiting = messages
    .select(sql`min(w.occurred_at)`.as('at'))
    .where('w.direction', '=', 'inbound')
    .where('w.type', '<>', 'reaction')
    .where(sql<boolean>`w.occurred_at > coalesce((${answered}), '-infinity')`)
    .where(sql<boolean>`w.created_at > coalesce(conversations.settled_at, '-infinity')`)
  return sql<Date | null>`(${waiting})`
}

/** Of open conversations; in a closed one nobody waits. */
export const waitingWhereOpen = (db: Db): RawBuilder<Date | null> =>
  sql<Date | null>`case when conversations.status = 'open' then ${waitingSince(db)} end`

/** After a message of the team failed, or arrived after all: who wrote before it waits again, or no longer. */
export async function recountWaiting(ctx: Context, conversationId: string): Promise<void> {
  await ctx.db
    .updateTable('conversations')
    .set({ waiting_since: waitingWhereOpen(ctx.db), updated_at: ctx.now() })
    .where('id', '=', conversationId)
    .execute()
}
