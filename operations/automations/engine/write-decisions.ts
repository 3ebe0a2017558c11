/** Writes the decisions of a batch in one statement. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { insertRows, recordedColumns, recordset } from '#runtime/database/recordset'
import type { Decision } from '../deciding/decide.ts'
import { describeReason } from '../reasons.ts'
import { endRuns, releaseUnits } from './termination.ts'

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
  /** Is added to `attempts`. */
  tries: 'integer',
  failure_code: 'text',
  skip_reason: 'text',
  failure_reason: 'text',
  failed_at: 'timestamptz',
  ended_at: 'timestamptz',
} as const
/** The new values of an execution. Omitted columns become null. */
export type DecisionRow = Partial<Record<keyof typeof decisionTypes, unknown>> & { id: string; tries: number }

/** Converts a decision to the columns of its execution. For messages to send, the caller adds the claim's columns. */
export function toDecisionRow(decision: Decision, now: Date): DecisionRow {
  const { row } = decision
  const unchanged: DecisionRow = {
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
  switch (decision.kind) {
    case 'wait':
      // A run that reaches a wait step starts without earlier holds afterwards.
      return { ...unchanged, scheduled_at: decision.until, held_ms: 0, hold_tries: 0, due_at: null }
    case 'coupon':
      // The execution is decided again once the platform has the coupon. If it was on hold, the hold stays.
      return { ...unchanged, ...held, status: row.status }
    case 'held': {
      const { reason, until, since, heldMs, tries } = decision.hold
      return {
        ...unchanged,
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
        ...unchanged,
        status: 'skipped',
        skip_reason: decision.reason,
        failure_reason: describeReason(decision.reason),
        ended_at: now,
      }
    case 'failed':
      return {
        ...unchanged,
        status: 'failed',
        failure_code: decision.code,
        failure_reason: decision.reason,
        failed_at: now,
      }
    case 'cancelled':
      return { ...unchanged, status: 'cancelled', failure_reason: 'automation-deleted', ended_at: now }
    case 'send':
      return {
        ...unchanged,
        // If the message was on hold, keep the hold: it continues if the provider does not accept the message now.
        ...held,
        status: 'sending',
        message: decision.content,
        text: decision.text,
        officialapi_template_id: decision.templateId,
        coupon_code: decision.couponCode,
      }
  }
}

/** Writes the rows. Call it in the transaction that has locked the executions. */
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

/** Ends the runs of skipped, failed and cancelled executions, and releases the executions' quota units. */
export async function endFinished(ctx: Context, decisions: readonly Decision[]): Promise<void> {
  const over = decisions.filter(({ kind }) => kind === 'skipped' || kind === 'failed' || kind === 'cancelled')
  await releaseUnits(
    ctx,
    over.map(({ row }) => row),
  )
  await endRuns(
    ctx,
    over.map(({ row }) => row.run_id),
  )
}

const stepLogTypes = {
  run_id: 'uuid',
  step_id: 'text',
  automation_id: 'uuid',
  flow_version: 'integer',
  type: 'text',
  outcome: 'text',
  entered_at: 'timestamptz',
  left_at: 'timestamptz',
} as const

/** Logs when runs enter and leave steps, one row per run and step. */
export async function writeStepLog(ctx: Context, decisions: readonly Decision[]): Promise<void> {
  const rows = decisions.flatMap(({ row, visits }) =>
    visits.map((visit) => ({
      run_id: row.run_id,
      step_id: visit.stepId,
      automation_id: row.automation_id,
      flow_version: row.flow_version,
      type: visit.type,
      outcome: visit.outcome,
      entered_at: visit.enteredAt,
      left_at: visit.leftAt,
    })),
  )
  await upsertStepLog(ctx, rows)
}

export type StepLogRow = Record<keyof typeof stepLogTypes, string | number | Date | null>

export async function upsertStepLog(ctx: Context, rows: readonly StepLogRow[]): Promise<void> {
  if (rows.length === 0) return
  await insertRows(ctx.db.insertInto('automation_step_log'), stepLogTypes, rows)
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'run_id', 'step_id']).doUpdateSet({
        outcome: sql<string>`coalesce(excluded.outcome, automation_step_log.outcome)`,
        left_at: sql<Date>`coalesce(automation_step_log.left_at, excluded.left_at)`,
      }),
    )
    .execute()
}
