/** Pending messages after a change of their automation. */
import type { Context } from '#runtime/context'
import type { Hold } from '../deciding/holds.ts'
import { queueAdvance } from '../engine/schedule.ts'

/**
 * Makes held messages due now if the change may have ended their hold (another template, other quiet hours), in the
 * caller's transaction.
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
