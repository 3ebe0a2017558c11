/**
 * Computes since when a contact waits for an answer. This is the only definition; it reads the messages themselves.
 * It compares the time of writing, not of arrival. Closing a conversation counts as an answer to everything before
 * it.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'

type Db = Kysely<TenantTables>

/** Time of the first unanswered message; correlated with the `conversations` row of the surrounding UPDATE. */
export function waitingSince(db: Db): RawBuilder<Date | null> {
  const messages = db
    .selectFrom('inbox_messages as w')
    .where('w.conversation_id', '=', sql.ref<string>('conversations.id'))
  // Only a message by a person counts as an answer, and only if it did not fail.
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

/** `waitingSince` for open conversations, null for closed ones. */
export const waitingSinceIfOpen = (db: Db): RawBuilder<Date | null> =>
  sql<Date | null>`case when conversations.status = 'open' then ${waitingSince(db)} end`

/** Recomputes `waiting_since` after a team message failed or was delivered late. */
export async function recountWaiting(ctx: Context, conversationId: string): Promise<void> {
  await ctx.db
    .updateTable('conversations')
    .set({ waiting_since: waitingSinceIfOpen(ctx.db), updated_at: ctx.now() })
    .where('id', '=', conversationId)
    .execute()
}
