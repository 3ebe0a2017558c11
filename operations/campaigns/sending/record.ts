/** What became of a batch, written down in one transaction: messages, counters, units, ledger. */
import { sql } from 'kysely'
import { optOuts } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import type { FailureCode, SkipReason } from '../schema.ts'
import type { Result } from './deliver.ts'
import { commitUnits, releaseUnits } from './units.ts'

/** What the run needs to know afterwards. */
export interface Recorded {
  status: string
  pending: number
  attempted: number
  failed: number
  troubleSince: Date | null
}

interface Written {
  id: string
  status: 'sent' | 'failed' | 'skipped' | 'pending' | 'cancelled'
  unit: 'committed' | 'released' | 'reserved'
  skip_reason: SkipReason | null
  failure_code: FailureCode | null
  failure_message: string | null
  text: string | null
  provider_message_id: string | null
  returned: 0 | 1
  sent_at: Date | null
  failed_at: Date | null
}

const lostMessage = 'It is not known whether the message left: the provider never said what became of it'

export interface RunFacts {
  /** Something could not be handed over: since when is remembered. */
  isTrouble: boolean
  /** When so many messages more will have left. */
  finishAt(pending: number): Date
}

/**
 * Records results of the messages that this claim still has: what a status event has settled meanwhile stays.
 * `run`: of the batches of a campaign that is sending.
 */
export async function recordResults(
  ctx: Context,
  campaignId: string,
  claimId: string,
  results: readonly Result[],
  run?: RunFacts,
): Promise<Recorded> {
  return ctx.transaction(async (tx) => {
    const campaign = await tx.db
      .selectFrom('campaigns')
      .select(['id', 'name', 'status', 'pending', 'deleted_at'])
      .where('id', '=', campaignId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow()
    const isOver = campaign.status === 'cancelled' || campaign.deleted_at !== null
    const now = tx.now()
    const rows = results.map((result) => written(result, isOver, now))
    const ours = rows.length === 0 ? new Map<string, string | null>() : await write(tx, claimId, rows, now)
    const settled = results.filter((result) => ours.has(result.message.id))
    await settleUnits(tx, campaign, settled, rows, ours)
    for (const result of settled) {
      if (result.is === 'failed' && result.code === 'recipient-stopped') {
        await optOuts.add(tx, result.message.phone, 'provider', campaignId)
      }
    }
    return moveCounters(tx, campaign, settled, isOver, run, now)
  })
}

function written(result: Result, isOver: boolean, now: Date): Written {
  const row: Written = {
    id: result.message.id,
    status: 'pending',
    unit: 'released',
    skip_reason: null,
    failure_code: null,
    failure_message: null,
    text: result.text ?? null,
    provider_message_id: null,
    returned: 0,
    sent_at: null,
    failed_at: null,
  }
  switch (result.is) {
    case 'sent':
      return {
        ...row,
        status: 'sent',
        unit: 'committed',
        provider_message_id: result.providerMessageId,
        sent_at: result.at,
      }
    case 'failed':
      return {
        ...row,
        status: 'failed',
        failure_code: result.code,
        failure_message: result.reason,
        failed_at: now,
      }
    case 'lost':
      return {
        ...row,
        status: 'failed',
        unit: 'committed',
        failure_code: 'unknown-outcome',
        failure_message: lostMessage,
        failed_at: now,
      }
    case 'skipped':
      return { ...row, status: 'skipped', skip_reason: result.reason }
    case 'back':
      return isOver ? { ...row, status: 'cancelled', returned: 1 } : { ...row, unit: 'reserved', returned: 1 }
  }
}

const recordset = (rows: readonly Written[]) =>
  sql<Written>`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)`.as<'r'>(
    sql.raw(
      `r(id uuid, status text, unit text, skip_reason text, failure_code text, failure_message text, text text,
        provider_message_id text, returned integer, sent_at timestamptz, failed_at timestamptz)`,
    ),
  )

/** Answers the messages that were still ours, each with its reservation. */
async function write(
  tx: Context,
  claimId: string,
  rows: readonly Written[],
  now: Date,
): Promise<Map<string, string | null>> {
  const given = recordset(rows)
  const moved = await tx.db
    .updateTable('campaign_messages')
    .from(given)
    .set((eb) => ({
      status: eb.ref('r.status'),
      unit: eb.ref('r.unit'),
      skip_reason: eb.ref('r.skip_reason'),
      failure_code: eb.ref('r.failure_code'),
      failure_message: eb.ref('r.failure_message'),
      text: sql<string>`coalesce(r.text, campaign_messages.text)`,
      provider_message_id: sql<string>`coalesce(r.provider_message_id, campaign_messages.provider_message_id)`,
      attempts: sql<number>`campaign_messages.attempts - r.returned`,
      sent_at: eb.ref('r.sent_at'),
      failed_at: eb.ref('r.failed_at'),
      claim_id: null,
      claimed_at: null,
      called_at: null,
      updated_at: now,
    }))
    .whereRef('campaign_messages.id', '=', 'r.id')
    // By the index, whatever the planner's statistics know of a fresh snapshot.
    .where('campaign_messages.id', '=', sql<string>`any(${rows.map((row) => row.id)}::uuid[])`)
    .where('campaign_messages.claim_id', '=', claimId)
    .where('campaign_messages.status', '=', 'sending')
    .returning(['campaign_messages.id', 'campaign_messages.reservation_id'])
    .execute()
  if (moved.length < rows.length) await fillTexts(tx, given, now)
  return new Map(moved.map((row) => [row.id, row.reservation_id]))
}

/** A status event was faster than we: it knew all but the text. */
async function fillTexts(tx: Context, given: ReturnType<typeof recordset>, now: Date): Promise<void> {
  await tx.db
    .updateTable('campaign_messages')
    .from(given)
    .set({ text: sql<string>`r.text`, updated_at: now })
    .whereRef('campaign_messages.id', '=', 'r.id')
    .where('campaign_messages.status', 'in', ['sent', 'delivered', 'read', 'failed'])
    .where('campaign_messages.text', 'is', null)
    .where('r.text', 'is not', null)
    .execute()
}

type Settled = readonly Result[]

async function settleUnits(
  tx: Context,
  campaign: { id: string; name: string },
  settled: Settled,
  rows: readonly Written[],
  reservations: ReadonlyMap<string, string | null>,
): Promise<void> {
  const units = new Map(rows.map((row) => [row.id, row.unit]))
  const ended = (unit: Written['unit']) => settled.filter((result) => units.get(result.message.id) === unit)
  const reservationOf = ({ message }: Result) => reservations.get(message.id) ?? null
  await commitUnits(
    tx,
    ended('committed').map((result) => ({
      id: result.message.id,
      campaignId: campaign.id,
      campaignName: campaign.name,
      phone: result.message.phone,
      generation: result.message.generation,
      reservationId: reservationOf(result),
      holdsUnit: true,
      providerMessageId: result.is === 'sent' ? result.providerMessageId : null,
      sentAt: result.is === 'sent' ? result.at : result.message.claimed_at,
      isKnown: result.is === 'sent',
    })),
  )
  await releaseUnits(tx, ended('released').map(reservationOf))
}

async function moveCounters(
  tx: Context,
  campaign: { id: string; pending: number },
  settled: Settled,
  isOver: boolean,
  run: RunFacts | undefined,
  now: Date,
): Promise<Recorded> {
  const count = (is: (result: Result) => boolean): number => settled.filter(is).length
  const sent = count(({ is }) => is === 'sent')
  const failed = count(({ is }) => is === 'failed' || is === 'lost')
  const skipped = count(({ is }) => is === 'skipped')
  const cancelled = isOver ? count(({ is }) => is === 'back') : 0
  const blamed = count((result) => result.is === 'failed' && result.code !== 'not-on-network')
  const worked = sent + count(({ is }) => is === 'failed') > 0
  const pending = campaign.pending - (sent + failed + skipped + cancelled)
  const row = await tx.db
    .updateTable('campaigns')
    .set((eb) => ({
      pending,
      sent: eb('sent', '+', sent),
      failed: eb('failed', '+', failed),
      skipped: eb('skipped', '+', skipped),
      cancelled: eb('cancelled', '+', cancelled),
      attempted_since_start: eb('attempted_since_start', '+', sent + failed),
      failed_since_start: eb('failed_since_start', '+', blamed),
      ...(worked ? { trouble_since: null } : {}),
      ...(run?.isTrouble && !worked ? { trouble_since: sql<Date>`coalesce(trouble_since, ${now})` } : {}),
      ...(run
        ? { last_progress_at: now, next_batch_at: null, estimated_finish_at: run.finishAt(pending) }
        : {}),
      updated_at: now,
    }))
    .where('id', '=', campaign.id)
    .returning(['status', 'pending', 'attempted_since_start', 'failed_since_start', 'trouble_since'])
    .executeTakeFirstOrThrow()
  return {
    status: row.status,
    pending: row.pending,
    attempted: row.attempted_since_start,
    failed: row.failed_since_start,
    troubleSince: row.trouble_since,
  }
}
