/** Conversations whose messages no worker looks after. */
import { sql } from 'kysely'
import type { SystemContext } from '#runtime/context'

const stuckAfterMs = 60_000
const atOnce = 500

/** Waiting for a minute, and for nothing any more. */
export async function stuckConversations(
  ctx: SystemContext,
): Promise<{ store_id: string; conversation_id: string }[]> {
  const now = ctx.now()
  const { rows } = await sql<{ store_id: string; conversation_id: string }>`
    select distinct m.store_id, m.conversation_id from inbox_messages m
    where m.status = 'queued' and m.created_at <= ${new Date(now.getTime() - stuckAfterMs)}::timestamptz
      and (m.not_before is null or m.not_before <= ${now}::timestamptz)
    limit ${atOnce}`.execute(ctx.root)
  return rows
}
