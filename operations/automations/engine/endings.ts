/** Executions that end without leaving: written down, their units given back, their runs over. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { recordset } from '#runtime/database/recordset'
import { type ReasonCode, reasonOf } from '../reasons.ts'

/** Runs that nothing follows in: over, and no longer standing at a step. */
export async function endRuns(ctx: Context, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return
  const now = ctx.now()
  await ctx.db
    .updateTable('automation_runs')
    .set({ ended_at: now, updated_at: now })
    .where('id', '=', sql<string>`any(${runIds}::uuid[])`)
    .where('ended_at', 'is', null)
    .execute()
  await ctx.db
    .updateTable('automation_step_log')
    .set({ left_at: now })
    .where('run_id', '=', sql<string>`any(${runIds}::uuid[])`)
    .where('left_at', 'is', null)
    .execute()
}

export interface Ending {
  id: string
  status: 'skipped' | 'cancelled' | 'failed'
  /** Why it was skipped, failed or cancelled. */
  code: ReasonCode
  /** A plain sentence; default the code's own. */
  reason?: string
}

const endingTypes = { id: 'uuid', status: 'text', code: 'text', reason: 'text' } as const

/**
 * Ends executions that are still `from`, in the caller's transaction. One that has left or ended meanwhile stays as it
 * is. Answers the ids of those that ended.
 */
export async function endExecutions(
  ctx: Context,
  endings: readonly Ending[],
  from: readonly ('pending' | 'sending')[] = ['pending'],
): Promise<string[]> {
  if (endings.length === 0) return []
  const now = ctx.now()
  const rows = endings.map(({ id, status, code, reason = reasonOf(code) }) => ({ id, status, code, reason }))
  const ended = await ctx.db
    .updateTable('automation_executions as e')
    .from(recordset(endingTypes, rows))
    .set((eb) => ({
      status: eb.ref('r.status'),
      skip_reason: sql<string | null>`case when r.status = 'skipped' then r.code end`,
      failure_code: sql<string | null>`case when r.status = 'failed' then r.code end`,
      failure_reason: sql<string>`case when r.status = 'cancelled' then r.code else r.reason end`,
      failed_at: sql<Date | null>`case when r.status = 'failed' then ${now}::timestamptz end`,
      ended_at: sql<Date | null>`case when r.status <> 'failed' then ${now}::timestamptz end`,
      hold_reason: null,
      held_since: null,
      claim_id: null,
      claimed_at: null,
      called_at: null,
      updated_at: now,
    }))
    .whereRef('e.id', '=', 'r.id')
    .where('e.id', '=', sql<string>`any(${rows.map((row) => row.id)}::uuid[])`)
    .where('e.status', '=', sql<string>`any(${from}::text[])`)
    .returning(['e.id', 'e.run_id', 'e.reservation_id'])
    .execute()
  await forgetUnits(ctx, ended)
  await endRuns(
    ctx,
    ended.map((row) => row.run_id),
  )
  return ended.map((row) => row.id)
}

/** Gives back what executions hold that did not leave, and lets go of it. */
export async function forgetUnits(
  ctx: Context,
  rows: readonly { id: string; reservation_id: string | null }[],
): Promise<void> {
  const holding = rows.filter((row) => row.reservation_id !== null)
  if (holding.length === 0) return
  await ctx.db
    .updateTable('automation_executions')
    .set({ reservation_id: null })
    .where('id', '=', sql<string>`any(${holding.map((row) => row.id)}::uuid[])`)
    .execute()
  await outbox.releaseUnits(
    ctx,
    holding.map((row) => row.reservation_id),
  )
}

/** Everything pending of an automation that is deleted, in that transaction: its units go back, its runs are over. */
export const cancelPending = (ctx: Context, automationId: string): Promise<void> =>
  endPending(ctx, 'automation_id', [automationId], { status: 'cancelled', code: 'automation-deleted' })

/** Nothing of these runs follows: their message failed. */
export async function endFollowing(ctx: Context, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return
  await endPending(ctx, 'run_id', runIds, { status: 'skipped', code: 'previous-failed' })
  await endRuns(ctx, runIds)
}

async function endPending(
  ctx: Context,
  of: 'automation_id' | 'run_id',
  ids: readonly string[],
  ending: Omit<Ending, 'id'>,
): Promise<void> {
  const rows = await ctx.db
    .selectFrom('automation_executions')
    .select('id')
    .where(of, '=', sql<string>`any(${ids}::uuid[])`)
    .where('status', '=', 'pending')
    .orderBy('id')
    .forUpdate()
    .execute()
  await endExecutions(
    ctx,
    rows.map(({ id }) => ({ id, ...ending })),
  )
}
