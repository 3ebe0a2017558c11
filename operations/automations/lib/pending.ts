/** Messages that have not left, when their automation changes or goes. */
import { sql } from 'kysely'
import { metering } from '#operations/store/lib/door'
import type { Context } from '#runtime/context'

/** Cancels what is pending, in the caller's transaction: its units go back, its runs are over. */
export async function cancelPending(ctx: Context, automationId: string): Promise<void> {
  const now = ctx.now()
  const released = await ctx.db
    .with('cancelled', (db) =>
      db
        .updateTable('automation_executions')
        .set({
          status: 'cancelled',
          hold_reason: null,
          failure_reason: 'automation-deleted',
          ended_at: now,
          updated_at: now,
        })
        .where('automation_id', '=', automationId)
        .where('status', '=', 'pending')
        .returning(['run_id', 'reservation_id']),
    )
    .with('over', (db) =>
      db
        .updateTable('automation_runs')
        .set({ ended_at: now, updated_at: now })
        .where('id', 'in', db.selectFrom('cancelled').select('run_id'))
        .where('ended_at', 'is', null)
        .returning('id'),
    )
    .with('left', (db) =>
      db
        .updateTable('automation_step_log')
        .set({ left_at: now })
        .where('run_id', 'in', db.selectFrom('over').select('id'))
        .where('left_at', 'is', null)
        .returning('run_id'),
    )
    .selectFrom('cancelled')
    .select(['reservation_id', sql<number>`count(*)::int`.as('units')])
    .where('reservation_id', 'is not', null)
    .groupBy('reservation_id')
    .orderBy('reservation_id')
    .execute()
  for (const { reservation_id: id, units } of released) await metering.release(ctx, id!, units)
}

/** What waits for a template is due now: another message may have taken its place. The sweep finds it. */
export async function lookAgainForTemplate(ctx: Context, automationId: string): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .updateTable('automation_executions')
    .set({ scheduled_at: now, updated_at: now })
    .where('automation_id', '=', automationId)
    .where('status', '=', 'pending')
    .where('hold_reason', '=', 'template-pending')
    .where('scheduled_at', '>', now)
    .execute()
}
