/** Decisions as rows: one statement for a whole batch, whatever they are. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { recordedColumns, recordset, withRows } from '#runtime/database/recordset'
import type { Decision } from '../deciding/decide.ts'
import { reasonOf } from '../reasons.ts'
import { endRuns, forgetUnits } from './endings.ts'

const decisionTypes = {
  id: 'uuid',
  status: 'text',
  step_id: 'text',
  scheduled_at: 'timestamptz',
  hold_reason: 'text',
  held_since: 'timestamptz',
  held_ms: 'integer',
  hold_tries: 'integer',
  due_at: 'timestamptz',
  passed_purchase_check: 'boolean',
  message: 'jsonb',
  text: 'text',
  officialapi_template_id: 'integer',
  coupon_code: 'text',
  reservation_id: 'uuid',
  claim_id: 'uuid',
  claimed_at: 'timestamptz',
  called_at: 'timestamptz',
  /** How many more there are. */
  tries: 'integer',
  failure_code: 'text',
  skip_reason: 'text',
  failure_reason: 'text',
  failed_at: 'timestamptz',
  ended_at: 'timestamptz',
} as const
/** What is left out is null. */
export type DecisionRow = Partial<Record<keyof typeof decisionTypes, unknown>> & { id: string; tries: number }

/** What a decision makes of its execution. Leaving ones are told their claim by the caller. */
export function rowOf(decision: Decision, now: Date): DecisionRow {
  const { row } = decision
  const same: DecisionRow = {
    id: row.id,
    status: 'pending',
    step_id: decision.stepId,
    scheduled_at: row.scheduled_at,
    held_ms: row.held_ms,
    hold_tries: row.hold_tries,
    due_at: row.due_at,
    passed_purchase_check: decision.passedPurchaseCheck,
    reservation_id: row.reservation_id,
    tries: 0,
  }
  const held = { hold_reason: row.hold_reason, held_since: row.held_since }
  switch (decision.is) {
    case 'wait':
      // The wait is a new beginning: what held it before is over.
      return { ...same, scheduled_at: decision.until, held_ms: 0, hold_tries: 0, due_at: null }
    case 'coupon':
      // Goes on once the platform has it: what holds it now goes on, too.
      return { ...same, ...held, status: row.status }
    case 'held': {
      const { reason, until, since, heldMs, tries } = decision.hold
      return {
        ...same,
        scheduled_at: until,
        hold_reason: reason,
        held_since: since,
        held_ms: Math.round(heldMs),
        hold_tries: tries,
        due_at: row.due_at ?? row.scheduled_at,
      }
    }
    case 'skipped':
      return {
        ...same,
        status: 'skipped',
        skip_reason: decision.reason,
        failure_reason: reasonOf(decision.reason),
        ended_at: now,
      }
    case 'failed':
      return {
        ...same,
        status: 'failed',
        failure_code: decision.code,
        failure_reason: decision.reason,
        failed_at: now,
      }
    case 'cancelled':
      return { ...same, status: 'cancelled', failure_reason: 'automation-deleted', ended_at: now }
    case 'leaves':
      return {
        ...same,
        // Were it not taken now either, what has held it goes on.
        ...held,
        status: 'sending',
        message: decision.content,
        text: decision.text,
        officialapi_template_id: decision.templateId,
        coupon_code: decision.couponCode,
      }
  }
}

/** In the transaction that holds the executions locked. */
export async function writeRows(ctx: Context, rows: readonly DecisionRow[]): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map((row) => row.id)
  await ctx.db
    .updateTable('automation_executions as e')
    .from(recordset(decisionTypes, rows as never))
    .set({
      ...recordedColumns(decisionTypes, ['id', 'tries']),
      message: sql<string>`coalesce(r.message, e.message)`,
      text: sql<string>`coalesce(r.text, e.text)`,
      officialapi_template_id: sql<number>`coalesce(r.officialapi_template_id, e.officialapi_template_id)`,
      coupon_code: sql<string>`coalesce(r.coupon_code, e.coupon_code)`,
      claimed_at: sql<Date>`case when r.status = 'sending' then coalesce(r.claimed_at, e.claimed_at) end`,
      attempts: sql<number>`e.attempts + r.tries`,
      updated_at: ctx.now(),
    })
    .where(sql<boolean>`e.id = r.id`)
    .where('e.id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute()
}

/** Runs that are over give back what their last execution held. */
export async function settleEnded(ctx: Context, decisions: readonly Decision[]): Promise<void> {
  const over = decisions.filter(({ is }) => is === 'skipped' || is === 'failed' || is === 'cancelled')
  await forgetUnits(
    ctx,
    over.map(({ row }) => row),
  )
  await endRuns(
    ctx,
    over.map(({ row }) => row.run_id),
  )
}

const passageTypes = {
  run_id: 'uuid',
  step_id: 'text',
  automation_id: 'uuid',
  flow_version: 'integer',
  type: 'text',
  outcome: 'text',
  entered_at: 'timestamptz',
  left_at: 'timestamptz',
} as const

/** Arrivals at steps, once a run, and departures from them. */
export async function writePassages(ctx: Context, decisions: readonly Decision[]): Promise<void> {
  const rows = decisions.flatMap(({ row, passages }) =>
    passages.map((passage) => ({
      run_id: row.run_id,
      step_id: passage.stepId,
      automation_id: row.automation_id,
      flow_version: row.flow_version,
      type: passage.type,
      outcome: passage.outcome,
      entered_at: passage.enteredAt,
      left_at: passage.leftAt,
    })),
  )
  await logPassages(ctx, rows)
}

export type LoggedPassage = Record<keyof typeof passageTypes, string | number | Date | null>

export async function logPassages(ctx: Context, rows: readonly LoggedPassage[]): Promise<void> {
  if (rows.length === 0) return
  await withRows(ctx.db.insertInto('automation_step_log'), passageTypes, rows)
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'run_id', 'step_id']).doUpdateSet({
        outcome: sql<string>`coalesce(excluded.outcome, automation_step_log.outcome)`,
        left_at: sql<Date>`coalesce(automation_step_log.left_at, excluded.left_at)`,
      }),
    )
    .execute()
}
