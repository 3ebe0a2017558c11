/** Sends the queued messages of one conversation one at a time, oldest first (rule 5). */
import { outbox, sending } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { inboxSend } from '../handles.ts'
import { teamMessages } from './outbox-source.ts'

/** Maximum number of messages per run, so that one conversation does not delay the others. */
const atOnce = 20

export async function sendQueued(ctx: Context, conversationId: string, signal: AbortSignal): Promise<void> {
  const queued = await findQueued(ctx, conversationId)
  const isIdempotent = await sending.isIdempotent(ctx, 'official')
  for (const { id } of queued) {
    if (signal.aborted) break
    const at = await outbox.dispatchOne(ctx, teamMessages, id)
    if (at === null || !(await blocksQueue(ctx, id, isIdempotent))) continue
    await ctx.queue(inboxSend, { conversationId }, { at })
    return
  }
  if (signal.aborted || queued.length === atOnce)
    await ctx.queue(inboxSend, { conversationId }, { at: ctx.now() })
}

const findQueued = (ctx: Context, conversationId: string): Promise<{ id: string }[]> =>
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
 * Whether a message that is still queued blocks the messages after it. A message that may have been sent and cannot be
 * resent under an idempotency key does not block them: it waits for a status callback, and the watchdog handles it later.
 */
async function blocksQueue(ctx: Context, id: string, isIdempotent: boolean): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('inbox_messages')
    .select(['claimed_at', 'attempts'])
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .executeTakeFirst()
  if (!row) return false
  return row.claimed_at === null || (isIdempotent && row.attempts <= teamMessages.retryDelaysMs.length)
}
