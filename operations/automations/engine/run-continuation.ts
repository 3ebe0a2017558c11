/** Creates a run's next execution, in the transaction that records its previous message as sent. */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { recordset } from '#runtime/database/recordset'
import { minuteMs } from '#runtime/durations'
import { findNextStep } from '../deciding/walk.ts'
import type { Flow } from '../types.ts'
import { queueAdvance } from './schedule.ts'
import { endRuns } from './termination.ts'
import { upsertStepLog } from './write-decisions.ts'

export interface SentOfRun {
  runId: string
  automationId: string
  sequence: number
  stepId: string | null
  flowVersion: number | null
  sentAt: Date
}

/** Continues each run whose flow version has a next step. Ends the other runs, and runs of deleted automations. */
export async function continueRuns(ctx: Context, sent: readonly SentOfRun[]): Promise<void> {
  if (sent.length === 0) return
  const flows = await readFlows(ctx, sent)
  const now = ctx.now()
  const next = sent.flatMap((each) => {
    const flow = flows.get(`${each.automationId}:${each.flowVersion}`) ?? null
    const step = findNextStep(flow, each.stepId)
    if (!step) return []
    const at = step.type === 'wait' ? each.sentAt.getTime() + step.minutes * minuteMs : each.sentAt.getTime()
    return { ...each, step, at: new Date(at) }
  })
  const continuing = new Set(next.map((each) => each.runId))
  const toLogRow = ({ runId, automationId, flowVersion, sentAt }: SentOfRun) => ({
    run_id: runId,
    automation_id: automationId,
    flow_version: flowVersion,
    outcome: null,
    entered_at: sentAt,
  })
  await upsertStepLog(ctx, [
    ...sent.map((each) => ({
      ...toLogRow(each),
      step_id: each.stepId ?? '',
      type: 'message',
      left_at: each.sentAt,
    })),
    ...next.map((each) => ({
      ...toLogRow(each),
      step_id: each.step.id,
      type: each.step.type,
      left_at: null,
    })),
  ])
  await endRuns(
    ctx,
    sent.filter((each) => !continuing.has(each.runId)).map((each) => each.runId),
  )
  if (next.length === 0) return
  const rows = next.map(({ runId, sequence, step, at }) => ({
    id: ctx.newId(),
    run_id: runId,
    sequence: sequence + 1,
    step_id: step.id,
    scheduled_at: at,
  }))
  await ctx.db
    .insertInto('automation_executions')
    .columns([
      'id',
      'run_id',
      'automation_id',
      'sequence',
      'step_id',
      'status',
      'phone',
      'phone_key',
      'scheduled_at',
      'passed_purchase_check',
      'created_at',
      'updated_at',
    ])
    .expression((db) =>
      db
        .selectFrom(recordset(nextTypes, rows))
        .innerJoin('automation_executions as before', (join) =>
          join.onRef('before.run_id', '=', 'r.run_id').on(sql<boolean>`before.sequence = r.sequence - 1`),
        )
        .select([
          'r.id',
          'r.run_id',
          'before.automation_id',
          'r.sequence',
          'r.step_id',
          sql<string>`'pending'`.as('status'),
          'before.phone',
          'before.phone_key',
          'r.scheduled_at',
          'before.passed_purchase_check',
          sql<Date>`${now}::timestamptz`.as('created_at'),
          sql<Date>`${now}::timestamptz`.as('updated_at'),
        ]),
    )
    .execute()
  await queueAdvance(
    ctx,
    next.map((each) => each.at),
  )
}

const nextTypes = {
  id: 'uuid',
  run_id: 'uuid',
  sequence: 'integer',
  step_id: 'text',
  scheduled_at: 'timestamptz',
} as const

/**
 * Reads the flows of automations that are not deleted, by automation and version. Locks the automations until the
 * commit.
 */
async function readFlows(ctx: Context, sent: readonly SentOfRun[]): Promise<Map<string, Flow | null>> {
  const withFlow = sent.filter((each) => each.flowVersion !== null)
  if (withFlow.length === 0) return new Map()
  const ids = [...new Set(withFlow.map((each) => each.automationId))]
  const alive = await ctx.db
    .selectFrom('automations')
    .select('id')
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .forShare()
    .execute()
  const versions = await ctx.db
    .selectFrom('automation_flow_versions')
    .select(['automation_id', 'version', 'flow'])
    .where('automation_id', '=', sql<string>`any(${alive.map((row) => row.id)}::uuid[])`)
    .where('version', '=', sql<number>`any(${[...new Set(withFlow.map((each) => each.flowVersion))]}::int[])`)
    .execute()
  return new Map(versions.map((row) => [`${row.automation_id}:${row.version}`, row.flow as Flow | null]))
}
