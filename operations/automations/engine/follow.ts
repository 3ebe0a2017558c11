/** The next execution of a run, in the transaction that records its last message as sent. */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { recordset } from '#runtime/database/recordset'
import { minuteMs } from '#runtime/durations'
import { stepAfter } from '../deciding/walk.ts'
import type { Flow } from '../types.ts'
import { endRuns } from './endings.ts'
import { queueAdvance } from './schedule.ts'
import { logPassages } from './write-decisions.ts'

export interface LeftOfRun {
  runId: string
  automationId: string
  sequence: number
  stepId: string | null
  flowVersion: number | null
  sentAt: Date
}

/** Runs go on where the flow of their version does, unless their automation was deleted; the others are over. */
export async function followRuns(ctx: Context, left: readonly LeftOfRun[]): Promise<void> {
  if (left.length === 0) return
  const flows = await flowsOf(ctx, left)
  const now = ctx.now()
  const next = left.flatMap((each) => {
    const flow = flows.get(`${each.automationId}:${each.flowVersion}`) ?? null
    const step = stepAfter(flow, each.stepId)
    if (!step) return []
    const at = step.type === 'wait' ? each.sentAt.getTime() + step.minutes * minuteMs : each.sentAt.getTime()
    return { ...each, step, at: new Date(at) }
  })
  const going = new Set(next.map((each) => each.runId))
  const passageOf = ({ runId, automationId, flowVersion, sentAt }: LeftOfRun) => ({
    run_id: runId,
    automation_id: automationId,
    flow_version: flowVersion,
    outcome: null,
    entered_at: sentAt,
  })
  await logPassages(ctx, [
    ...left.map((each) => ({
      ...passageOf(each),
      step_id: each.stepId ?? '',
      type: 'message',
      left_at: each.sentAt,
    })),
    ...next.map((each) => ({
      ...passageOf(each),
      step_id: each.step.id,
      type: each.step.type,
      left_at: null,
    })),
  ])
  await endRuns(
    ctx,
    left.filter((each) => !going.has(each.runId)).map((each) => each.runId),
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

/** Flows by automation and version; none of automations that were deleted, which are held until this commits. */
async function flowsOf(ctx: Context, left: readonly LeftOfRun[]): Promise<Map<string, Flow | null>> {
  const withFlow = left.filter((each) => each.flowVersion !== null)
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
