/**
 * Computes since when a contact waits for an answer of the team. Nothing else computes it. Messages are compared by when
 * they were written, not by when they arrived. Closing a conversation counts as an answer to all earlier messages.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'

type Db = Kysely<TenantTables>

/**
 * An expression: when the first unanswered message was written. For use in an UPDATE of `conversations`, whose row it
 * refers to.
 */
export function waitingSince(db: Db): RawBuilder<Date | null> {
  const messages = db
    .selectFrom('inbox_messages as w')
    .where('w.conversation_id', '=', sql.ref<string>('conversations.id'))
  // A message counts as an answer only if a person sent it and it did not fail.
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

/** Like `waitingSince`, but null for closed conversations. */
export const waitingSinceIfOpen = (db: Db): RawBuilder<Date | null> =>
  sql<Date | null>`case when conversations.status = 'open' then ${waitingSince(db)} end`

/** Recomputes `waiting_since` after a message of the team failed, or was delivered after it had counted as failed. */
export async function recountWaiting(ctx: Context, conversationId: string): Promise<void> {
  await ctx.db
    .updateTable('conversations')
    .set({ waiting_since: waitingSinceIfOpen(ctx.db), updated_at: ctx.now() })
    .where('id', '=', conversationId)
    .execute()
}
