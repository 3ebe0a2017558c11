/** What the provider reports of messages of automations, applied in bulk. */
import { sql } from 'kysely'
import type { sending } from '#operations/messaging/door'
import { optOuts, refusalCode } from '#operations/messaging/door'
import { attribution, recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import type { ReasonCode } from '../reasons.ts'
import { endExecutions } from './endings.ts'
import { followRuns } from './follow.ts'
import { commitUnits } from './record.ts'

interface ExecutionRow {
  id: string
  run_id: string
  automation_id: string
  automation_name: string
  automation_type: string
  flow_version: number | null
  sequence: number
  step_id: string | null
  phone: string | null
  text: string | null
  coupon_code: string | null
  status: string
  attempts: number
  failure_code: string | null
  failure_reason: string | null
  provider_message_id: string | null
  reservation_id: string | null
  sent_at: Date | null
  delivered_at: Date | null
  read_at: Date | null
  failed_at: Date | null
}

/** Higher wins, never back. `sending` is before them all: a status proves that the message left. */
const ranks: Record<string, number> = { sending: 0, sent: 1, failed: 2, delivered: 3, read: 4 }

/** In the transaction that applies the events; those of messages that are not there, or of earlier tries, are passed over. */
export async function applyStatuses(ctx: Context, statuses: sending.DeliveryStatus[]): Promise<void> {
  const ids = [...new Set(statuses.map((status) => status.messageId).filter(isId))]
  if (ids.length === 0) return
  const rows = new Map((await lockRows(ctx, ids)).map((row) => [row.id, row]))
  const before = new Map([...rows].map(([id, row]) => [id, { ...row }]))
  for (const event of [...statuses].sort((a, b) => ranks[a.status]! - ranks[b.status]!)) {
    const row = rows.get(event.messageId)
    if (row && event.attempt === row.attempts) apply(row, event)
  }
  const changed = [...rows.values()].filter((row) => !isSame(row, before.get(row.id)!))
  if (changed.length === 0) return
  await write(ctx, changed)
  await countProved(ctx, changed, before)
  await followFailures(
    ctx,
    changed.filter((row) => row.status === 'failed' && before.get(row.id)!.status !== 'failed'),
  )
}

async function lockRows(ctx: Context, ids: readonly string[]): Promise<ExecutionRow[]> {
  return ctx.db
    .selectFrom('automation_executions as e')
    .innerJoin('automation_runs as r', 'r.id', 'e.run_id')
    .innerJoin('automations as a', 'a.id', 'e.automation_id')
    .select([
      'e.id',
      'e.run_id',
      'e.automation_id',
      'a.name as automation_name',
      'a.type as automation_type',
      'r.flow_version',
      'e.sequence',
      'e.step_id',
      'e.phone',
      'e.text',
      'e.coupon_code',
      'e.status',
      'e.attempts',
      'e.failure_code',
      'e.failure_reason',
      'e.provider_message_id',
      'e.reservation_id',
      'e.sent_at',
      'e.delivered_at',
      'e.read_at',
      'e.failed_at',
    ])
    .where('e.id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('e.status', 'in', Object.keys(ranks))
    .orderBy('e.id')
    .forUpdate('e')
    .execute()
}

/** Moves one message on by one event; what is not newer fills in missing instants alone. */
function apply(row: ExecutionRow, event: sending.DeliveryStatus): void {
  const at = row.sent_at && event.at < row.sent_at ? row.sent_at : event.at
  const isForward = ranks[event.status]! > ranks[row.status]!
  // Ended before anything was handed over: not this one's.
  if (row.status === 'failed' && row.sent_at === null) return
  row.provider_message_id ??= event.providerMessageId
  row.sent_at ??= at
  if (isForward) row.status = event.status
  switch (event.status) {
    case 'sent':
      break
    case 'failed':
      if (!isForward) break
      row.failed_at = at
      row.failure_code = codeOf(event.failureCode)
      row.failure_reason = event.failureMessage ?? 'The message did not arrive'
      break
    case 'delivered':
    case 'read':
      row.delivered_at ??= at
      if (event.status === 'read') row.read_at ??= at
      row.failed_at = null
      row.failure_code = null
      row.failure_reason = null
  }
}

const codeOf = (code: string | null): ReasonCode =>
  code === 'number-limit' ? code : refusalCode(code ?? 'undelivered')

const isSame = (a: ExecutionRow, b: ExecutionRow): boolean => JSON.stringify(a) === JSON.stringify(b)

const changeTypes = {
  id: 'uuid',
  status: 'text',
  failure_code: 'text',
  failure_reason: 'text',
  provider_message_id: 'text',
  sent_at: 'timestamptz',
  delivered_at: 'timestamptz',
  read_at: 'timestamptz',
  failed_at: 'timestamptz',
} as const

async function write(ctx: Context, rows: readonly ExecutionRow[]): Promise<void> {
  await ctx.db
    .updateTable('automation_executions as e')
    .from(recordset(changeTypes, rows as never))
    .set({
      status: sql<string>`r.status`,
      failure_code: sql<string>`r.failure_code`,
      failure_reason: sql<string>`r.failure_reason`,
      provider_message_id: sql<string>`r.provider_message_id`,
      sent_at: sql<Date>`r.sent_at`,
      delivered_at: sql<Date>`r.delivered_at`,
      read_at: sql<Date>`r.read_at`,
      failed_at: sql<Date>`r.failed_at`,
      claim_id: null,
      claimed_at: null,
      called_at: null,
      hold_reason: null,
      held_since: null,
      updated_at: ctx.now(),
    })
    .where(sql<boolean>`e.id = r.id`)
    .where('e.id', '=', sql<string>`any(${rows.map((row) => row.id)}::uuid[])`)
    .execute()
}

/** What was still `sending`, or given up as lost, has left after all: it counts, may bring orders, and the run goes on. */
async function countProved(
  ctx: Context,
  changed: readonly ExecutionRow[],
  before: ReadonlyMap<string, ExecutionRow>,
): Promise<void> {
  const proved = changed.filter((row) => {
    const was = before.get(row.id)!
    return was.status === 'sending' || (was.failure_code === 'unknown-outcome' && row.status !== 'failed')
  })
  await commitUnits(
    ctx,
    proved.map((row) => ({
      id: row.id,
      automation_id: row.automation_id,
      automation_name: row.automation_name,
      automation_type: row.automation_type,
      phone: row.phone!,
      text: row.text ?? '',
      coupon_code: row.coupon_code,
      reservation_id: row.reservation_id,
      providerMessageId: row.provider_message_id,
      sentAt: row.sent_at!,
      isKnown: true,
    })),
  )
  // Even a failed one: what follows is skipped right after, as for every other.
  await followRuns(
    ctx,
    proved
      .filter((row) => before.get(row.id)!.status === 'sending')
      .map((row) => ({
        runId: row.run_id,
        automationId: row.automation_id,
        sequence: row.sequence,
        stepId: row.step_id,
        flowVersion: row.flow_version,
        sentAt: row.sent_at!,
      })),
  )
}

/** A message that did not arrive: its touch is void, and nothing of its run follows. */
async function followFailures(ctx: Context, failed: readonly ExecutionRow[]): Promise<void> {
  if (failed.length === 0) return
  await attribution.voidTouches(
    ctx,
    failed.map((row) => row.id),
  )
  const pending = await ctx.db
    .selectFrom('automation_executions')
    .select('id')
    .where('run_id', '=', sql<string>`any(${failed.map((row) => row.run_id)}::uuid[])`)
    .where('status', '=', 'pending')
    .orderBy('id')
    .forUpdate()
    .execute()
  await endExecutions(
    ctx,
    pending.map(({ id }) => ({ id, status: 'skipped', code: 'previous-failed' })),
  )
  for (const row of failed) {
    if (row.failure_code === 'recipient-stopped' && row.phone) {
      await optOuts.add(ctx, row.phone, 'provider')
    }
  }
}
