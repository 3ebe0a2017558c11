/** What became of a batch, in one transaction: executions, ledger, touches, what follows (rule 5). */
import { sql } from 'kysely'
import { numberUsage, optOuts, sending } from '#operations/messaging/door'
import { recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { codeOfHold, holdOn } from '../deciding/holds.ts'
import { reasonOf } from '../reasons.ts'
import type { Claim, ClaimedMessage } from './claim.ts'
import type { Result } from './deliver.ts'
import { endExecutions, endRuns, forgetUnits } from './endings.ts'
import { followRuns } from './follow.ts'
import { queueAdvance } from './schedule.ts'

/**
 * Records results of the messages that this claim still has: what a status event has settled meanwhile stays.
 */
export async function recordResults(
  ctx: Context,
  claim: Pick<Claim, 'id' | 'way'>,
  results: readonly Result[],
): Promise<void> {
  if (results.length === 0) return
  await ctx.transaction(async (tx) => {
    const ids = results.map(({ message }) => message.id)
    const rows = await tx.db
      .selectFrom('automation_executions')
      .select([
        'id',
        'run_id',
        'reservation_id',
        'hold_reason',
        'held_since',
        'held_ms',
        'hold_tries',
        'is_forced',
        'scheduled_at',
      ])
      .where('id', '=', sql<string>`any(${ids}::uuid[])`)
      .where('claim_id', '=', claim.id)
      .where('status', '=', 'sending')
      .orderBy('id')
      .forUpdate()
      .execute()
    const ours = new Map(rows.map((row) => [row.id, row]))
    const settled = results.filter(({ message }) => ours.has(message.id))
    await recordSent(tx, settled)
    await recordFailed(tx, settled)
    await recordBack(tx, claim, settled, ours)
  })
}

type Back = Extract<Result, { is: 'back' }>

const sentTypes = {
  id: 'uuid',
  status: 'text',
  provider_message_id: 'text',
  sent_at: 'timestamptz',
  failed_at: 'timestamptz',
  failure_code: 'text',
  failure_reason: 'text',
} as const

/** Left, or nobody knows: the unit is used. */
async function recordSent(tx: Context, settled: readonly Result[]): Promise<void> {
  const left = settled.filter((result) => result.is === 'sent' || result.is === 'lost')
  if (left.length === 0) return
  const now = tx.now()
  const rows = left.map((result) => {
    const isKnown = result.is === 'sent'
    return {
      id: result.message.id,
      status: isKnown ? 'sent' : 'failed',
      provider_message_id: isKnown ? result.providerMessageId : null,
      sent_at: result.at.toISOString(),
      failed_at: isKnown ? null : now.toISOString(),
      failure_code: isKnown ? null : 'unknown-outcome',
      failure_reason: isKnown ? null : reasonOf('unknown-outcome'),
    }
  })
  await tx.db
    .updateTable('automation_executions as e')
    .from(recordset(sentTypes, rows as never))
    .set({
      status: sql<string>`r.status`,
      provider_message_id: sql<string>`r.provider_message_id`,
      sent_at: sql<Date>`r.sent_at`,
      failed_at: sql<Date>`r.failed_at`,
      failure_code: sql<string>`r.failure_code`,
      failure_reason: sql<string>`r.failure_reason`,
      hold_reason: null,
      held_since: null,
      claim_id: null,
      claimed_at: null,
      called_at: null,
      updated_at: now,
    })
    .where(sql<boolean>`e.id = r.id`)
    .where('e.id', '=', sql<string>`any(${rows.map((row) => row.id)}::uuid[])`)
    .execute()
  await commitUnits(
    tx,
    left.map((result) => ({
      ...result.message,
      providerMessageId: result.is === 'sent' ? result.providerMessageId : null,
      sentAt: result.at,
      isKnown: result.is === 'sent',
    })),
  )
  await endRuns(
    tx,
    left.filter(({ is }) => is === 'lost').map(({ message }) => message.run_id),
  )
  await followRuns(
    tx,
    left
      .filter(({ is }) => is === 'sent')
      .map(({ message, at }) => ({
        runId: message.run_id,
        automationId: message.automation_id,
        sequence: message.sequence,
        stepId: message.step_id,
        flowVersion: message.flow_version,
        sentAt: at,
      })),
  )
}

export interface LeftMessage
  extends Pick<
    ClaimedMessage,
    'id' | 'automation_id' | 'automation_name' | 'automation_type' | 'phone' | 'text' | 'coupon_code'
  > {
  reservation_id: string | null
  providerMessageId: string | null
  sentAt: Date
  isKnown: boolean
}

/** Counts messages that left, each once by its id, with their touches; the inbox shows them. */
export async function commitUnits(tx: Context, messages: readonly LeftMessage[]): Promise<void> {
  const groups = Map.groupBy(messages, (message) => message.reservation_id)
  for (const reservationId of [...groups.keys()].sort()) {
    if (reservationId === null) throw new Error('A message of an automation left without a reservation')
    await sending.accepted(
      tx,
      'automation',
      reservationId,
      groups.get(reservationId)!.map((message) => ({
        messageId: message.id,
        sourceId: message.automation_id,
        sourceName: message.automation_name,
        phone: message.phone,
        providerMessageId: message.providerMessageId,
        sentAt: message.sentAt,
        isKnown: message.isKnown,
        automationType: message.automation_type,
        ...(message.coupon_code === null ? {} : { couponCode: message.coupon_code }),
        text: message.text,
      })),
    )
  }
}

async function recordFailed(tx: Context, settled: readonly Result[]): Promise<void> {
  const failed = settled.filter((result) => result.is === 'failed')
  await endExecutions(
    tx,
    failed.map(({ message, code, reason }) => ({ id: message.id, status: 'failed', code, reason })),
    ['sending'],
  )
  for (const { message, code } of failed) {
    if (code === 'recipient-stopped') await optOuts.add(tx, message.phone, 'provider')
  }
}

interface Before {
  id: string
  reservation_id: string | null
  hold_reason: string | null
  held_since: Date | null
  held_ms: number
  hold_tries: number
}

/** Pending again, for later; given up after a day. */
async function recordBack(
  tx: Context,
  { way }: Pick<Claim, 'way'>,
  settled: readonly Result[],
  ours: ReadonlyMap<string, Before>,
): Promise<void> {
  const back = settled.filter((result): result is Back => result.is === 'back')
  if (back.length === 0) return
  const isFull = back.some(({ because }) => because === 'number-limit')
  const freeAt = isFull ? (await numberUsage(tx, way.connection.numberId)).nextFreeAt : null
  const now = tx.now()
  const instants: Date[] = []
  for (const result of back) {
    const row = ours.get(result.message.id)!
    const state = {
      reason: row.hold_reason,
      since: row.held_since,
      heldMs: row.held_ms,
      tries: row.hold_tries,
    }
    const reason =
      result.because === 'throttled' || result.because === 'stopped' ? 'provider-unavailable' : result.because
    const hold = holdOn(state, reason, now, {
      ...(result.because === 'number-limit' ? { freeAt } : {}),
      ...(result.because === 'throttled' ? { afterMs: result.afterMs } : {}),
      ...(result.because === 'stopped' ? { afterMs: 1 } : {}),
    })
    if (!hold) {
      await endExecutions(tx, [{ id: row.id, status: 'failed', code: codeOfHold[reason] }], ['sending'])
      continue
    }
    instants.push(hold.until)
    await tx.db
      .updateTable('automation_executions')
      .set({
        status: 'pending',
        scheduled_at: hold.until,
        due_at: sql<Date>`coalesce(due_at, scheduled_at)`,
        hold_reason: hold.reason,
        held_since: hold.since,
        held_ms: Math.round(hold.heldMs),
        hold_tries: hold.tries,
        message: null,
        text: null,
        officialapi_template_id: null,
        coupon_code: null,
        claim_id: null,
        claimed_at: null,
        called_at: null,
        updated_at: now,
      })
      .where('id', '=', row.id)
      .execute()
  }
  await forgetUnits(
    tx,
    back.map(({ message }) => ours.get(message.id)!).filter((row) => row.reservation_id !== null),
  )
  await queueAdvance(tx, instants)
}
