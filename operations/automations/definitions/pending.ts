/** Messages that have not left, when their automation changes. */
import type { Context } from '#runtime/context'
import type { Hold } from '../deciding/holds.ts'
import { queueAdvance } from '../engine/schedule.ts'

/**
 * What a change of its automation may have freed is due now, in the caller's transaction: another message has taken
 * the place of its template, its quiet hours are others or none.
 */
export async function lookAgain(ctx: Context, automationId: string, reason: Hold['reason']): Promise<void> {
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
