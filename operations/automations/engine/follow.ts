/** The next execution of a run, in the transaction that records its last message as sent. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
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
    const at = step.type === 'wait' ? each.sentAt.getTime() + step.minutes * 60_000 : each.sentAt.getTime()
    return { ...each, step, at: new Date(at) }
  })
  const going = new Set(next.map((each) => each.runId))
  await logPassages(ctx, [
    ...left.map((each) => ({
      run_id: each.runId,
      step_id: each.stepId ?? '',
      automation_id: each.automationId,
      flow_version: each.flowVersion,
      type: 'message',
      outcome: null,
      entered_at: each.sentAt.toISOString(),
      left_at: each.sentAt.toISOString(),
    })),
    ...next.map((each) => ({
      run_id: each.runId,
      step_id: each.step.id,
      automation_id: each.automationId,
      flow_version: each.flowVersion,
      type: each.step.type,
      outcome: null,
      entered_at: each.sentAt.toISOString(),
      left_at: null,
    })),
  ])
  await endRuns(
    ctx,
    left.filter((each) => !going.has(each.runId)).map((each) => each.runId),
  )
  if (next.length === 0) return
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
        .selectFrom(
          sql<{ id: string; run_id: string; sequence: number; step_id: string; at: Date }>`
            json_to_recordset(${JSON.stringify(
              next.map((each) => ({
                id: ctx.newId(),
                run_id: each.runId,
                sequence: each.sequence + 1,
                step_id: each.step.id,
                at: each.at.toISOString(),
              })),
            )}::json)`.as<'n'>(sql`n(id uuid, run_id uuid, sequence integer, step_id text, at timestamptz)`),
        )
        .innerJoin('automation_executions as before', (join) =>
          join.onRef('before.run_id', '=', 'n.run_id').on(sql<boolean>`before.sequence = n.sequence - 1`),
        )
        .select([
          'n.id',
          'n.run_id',
          'before.automation_id',
          'n.sequence',
          'n.step_id',
          sql<string>`'pending'`.as('status'),
          'before.phone',
          'before.phone_key',
          'n.at as scheduled_at',
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
