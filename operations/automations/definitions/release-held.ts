/** Releases pending messages after their automation was changed. */
import type { Context } from '#runtime/context'
import type { Hold } from '../deciding/holds.ts'
import { queueAdvance } from '../engine/schedule.ts'

/**
 * Makes the messages held for `reason` due now, in the caller's transaction. Call it after a change that may have ended
 * such holds, for example another template or other quiet hours.
 */
export async function releasePending(
  ctx: Context,
  automationId: string,
  reason: Hold['reason'],
): Promise<void> {
  const now = ctx.now()
  const due = await ctx.db
    .updateTable('automation_executions')
    .set({ scheduled_at: now, updated_at: now })
    .where('automation_id', '=', automationId)
    .where('status', '=', 'pending')
    .where('hold_reason', '=', reason)
    .where('scheduled_at', '>', now)
    .returning('id')
    .execute()
  if (due.length > 0) await queueAdvance(ctx, [now])
}
