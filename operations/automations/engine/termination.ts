/** Ends executions that will not be sent: records the reason, releases their quota units and ends their runs. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { recordset } from '#runtime/database/recordset'
import { describeReason, type ReasonCode } from '../reasons.ts'

/** Ends runs, and records in the step log that they left their current step. */
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

export interface Termination {
  id: string
  status: 'skipped' | 'cancelled' | 'failed'
  /** Why it was skipped, failed or was cancelled. */
  code: ReasonCode
  /** The reason as a sentence; by default `describeReason(code)`. */
  reason?: string
}

const endingTypes = { id: 'uuid', status: 'text', code: 'text', reason: 'text' } as const

/**
 * Ends the executions whose status is still in `from`, in the caller's transaction, and leaves the others unchanged.
 * Returns the ids of the executions that it ended.
 */
export async function endExecutions(
  ctx: Context,
  endings: readonly Termination[],
  from: readonly ('pending' | 'sending')[] = ['pending'],
): Promise<string[]> {
  if (endings.length === 0) return []
  const now = ctx.now()
  const rows = endings.map(({ id, status, code, reason = describeReason(code) }) => ({
    id,
    status,
    code,
    reason,
  }))
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
  await releaseUnits(ctx, ended)
  await endRuns(
    ctx,
    ended.map((row) => row.run_id),
  )
  return ended.map((row) => row.id)
}

/** Releases the quota units of executions that were not sent. */
export async function releaseUnits(
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

/** Cancels all pending executions of an automation, in the transaction that deletes it. */
export const cancelPending = (ctx: Context, automationId: string): Promise<void> =>
  endPending(ctx, 'automation_id', [automationId], { status: 'cancelled', code: 'automation-deleted' })

/** Skips the pending executions of runs in which a message failed, and ends the runs. */
export async function skipFollowing(ctx: Context, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return
  await endPending(ctx, 'run_id', runIds, { status: 'skipped', code: 'previous-failed' })
  await endRuns(ctx, runIds)
}

async function endPending(
  ctx: Context,
  of: 'automation_id' | 'run_id',
  ids: readonly string[],
  ending: Omit<Termination, 'id'>,
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
