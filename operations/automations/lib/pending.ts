/** Messages that have not left, when their automation changes. */
import type { Context } from '#runtime/context'
import { queueAdvance } from './engine/schedule.ts'

/** What waits for a template is due now, in the caller's transaction: another message may have taken its place. */
export async function lookAgainForTemplate(ctx: Context, automationId: string): Promise<void> {
  const now = ctx.now()
  const due = await ctx.db
    .updateTable('automation_executions')
    .set({ scheduled_at: now, updated_at: now })
    .where('automation_id', '=', automationId)
    .where('status', '=', 'pending')
    .where('hold_reason', '=', 'template-pending')
    .where('scheduled_at', '>', now)
    .returning('id')
    .execute()
  if (due.length > 0) await queueAdvance(ctx, [now])
}
