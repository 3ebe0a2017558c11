/** One conversation's messages leave one at a time, oldest first (rule 5). */
import { outbox, sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { inboxSend } from '../handles.ts'
import { teamMessages } from './lane.ts'

/** Messages of one run: then others have their turn. */
const atOnce = 20

export async function sendQueued(ctx: Context, conversationId: string, signal: AbortSignal): Promise<void> {
  const queued = await queuedOf(ctx, conversationId)
  const isAskedAgain = await sending.isIdempotent(ctx, 'official')
  for (const { id } of queued) {
    if (signal.aborted) break
    const at = await outbox.handOne(ctx, teamMessages, id)
    if (at === null || !(await holdsBack(ctx, id, isAskedAgain))) continue
    await ctx.queue(inboxSend, { conversationId }, { at })
    return
  }
  if (signal.aborted || queued.length === atOnce)
    await ctx.queue(inboxSend, { conversationId }, { at: ctx.now() })
}

const queuedOf = (ctx: Context, conversationId: string): Promise<{ id: string }[]> =>
  ctx.db
    .selectFrom('inbox_messages')
    .select('id')
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'queued')
    .orderBy('created_at')
    .orderBy('id')
    .limit(atOnce)
    .execute()

/**
 * What may have left holds back nobody where only a callback can tell: the watchdog comes back to it. A job that waited
 * for it would hold back what is sent meanwhile.
 */
async function holdsBack(ctx: Context, id: string, isAskedAgain: boolean): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('inbox_messages')
    .select(['claimed_at', 'attempts'])
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .executeTakeFirst()
  if (!row) return false
  return row.claimed_at === null || (isAskedAgain && row.attempts <= teamMessages.retriesAfterMs.length)
}
