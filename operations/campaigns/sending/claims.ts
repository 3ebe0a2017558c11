/** Claims messages: a worker records in the database which messages it sends, before it sends them. */
import { type ExpressionBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { optOuts, outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { greatestKnown } from '#runtime/database/sql'
import type { CampaignContent, CampaignStatus, PauseReason, SendWindow } from '../schema.ts'
import type { Recipient } from './render.ts'

export interface ClaimedMessage extends Recipient {
  id: string
  phone_key: string
  generation: number
}

export interface Claim {
  id: string
  messages: ClaimedMessage[]
}

export interface RunningCampaign {
  id: string
  name: string
  status: CampaignStatus
  is_deleted: boolean
  content: CampaignContent
  send_window: SendWindow | null
  snapshot_at: Date | null
  pending: number
  /** Why the campaign is paused; while it is sending, why it waits. */
  pause_reason: PauseReason | null
  trouble_since: Date | null
  next_batch_at: Date | null
  has_pending: boolean
  /** The time of the last progress or of the next planned batch, whichever is later. */
  due_since: Date | null
  /** The earliest claim time of the messages in status `sending`. */
  oldest_claim: Date | null
}

const findRunning = prepared<{ id: string }, RunningCampaign>(
  (db, values) =>
    db
      .selectFrom('campaigns as c')
      .select((eb) => [
        'c.id',
        'c.name',
        'c.status',
        sql<boolean>`c.deleted_at is not null`.as('is_deleted'),
        'c.content',
        'c.send_window',
        'c.snapshot_at',
        'c.pending',
        'c.pause_reason',
        'c.trouble_since',
        'c.next_batch_at',
        greatestKnown<Date | null>(sql.ref('c.last_progress_at'), sql.ref('c.next_batch_at')).as('due_since'),
        eb
          .exists(
            eb
              .selectFrom('campaign_messages as m')
              .select('m.id')
              .where('m.campaign_id', '=', values.id)
              .where('m.status', '=', 'pending'),
          )
          .as('has_pending'),
        eb
          .selectFrom('campaign_messages as m')
          .select(sql<Date | null>`min(m.claimed_at)`.as('at'))
          .where('m.campaign_id', '=', values.id)
          .where('m.status', '=', 'sending')
          .as('oldest_claim'),
      ])
      .where('c.id', '=', values.id) as never,
)

/** Reads the campaign for a run, even if it is deleted. Undefined once it is purged. */
export async function readRunning(ctx: Context, id: string): Promise<RunningCampaign | undefined> {
  return (await findRunning(ctx, { id }))[0]
}

export interface ClaimOptions {
  /** `'dead'`: messages that dead workers claimed. They may only be resent through a provider with idempotency keys. */
  which: 'pending' | 'dead'
  /**
   * Whether the provider supports idempotency keys. If not, each call is recorded just before it is made, not with the
   * claim.
   */
  isIdempotent: boolean
  limit: number
  /** Claims only this message, even if the campaign is not sending, but not if it is cancelled or deleted. */
  messageId?: string
}

/**
 * Claims the oldest messages of a campaign that is sending; null if it is no longer sending. Locks the campaign's row in
 * share mode, so that no message is claimed once a request to pause or cancel has succeeded.
 */
export async function claimMessages(
  ctx: Context,
  campaignId: string,
  options: ClaimOptions,
): Promise<Claim | null> {
  return ctx.transaction(async (tx) => {
    const isOne = options.messageId !== undefined
    const open = await tx.db
      .selectFrom('campaigns')
      .select('id')
      .where('id', '=', campaignId)
      .where('status', isOne ? '!=' : '=', isOne ? 'cancelled' : 'sending')
      .where('deleted_at', 'is', null)
      .forShare()
      .execute()
    return open.length === 0 ? null : claimRows(tx, campaignId, options)
  })
}

async function claimRows(
  tx: Context,
  campaignId: string,
  { which, isIdempotent, limit, messageId }: ClaimOptions,
): Promise<Claim> {
  const now = tx.now()
  const id = tx.newId()
  const isPending = which === 'pending'
  const messages = await tx.db
    // Materialized, because a join could run the subquery more than once and lock more rows than `limit`.
    .with(
      (cte) => cte('picked').materialized(),
      (db) => {
        let picked = db
          .selectFrom('campaign_messages as m')
          .select('m.id')
          .where('m.campaign_id', '=', campaignId)
          .where('m.status', '=', isPending ? 'pending' : 'sending')
          .orderBy('m.id')
          .limit(limit)
          .forUpdate()
          .skipLocked()
        if (!isPending)
          picked = picked.where('m.claimed_at', '<=', new Date(now.getTime() - outbox.deadAfterMs))
        if (messageId !== undefined) picked = picked.where('m.id', '=', messageId)
        return picked
      },
    )
    .updateTable('campaign_messages')
    .from('picked')
    .set((eb) => ({
      status: 'sending',
      claim_id: id,
      claimed_at: now,
      called_at: isIdempotent ? sql<Date>`coalesce(campaign_messages.called_at, ${now})` : null,
      // Resending a dead worker's message under the same key is not another attempt.
      ...(isPending ? { attempts: eb('campaign_messages.attempts', '+', 1) } : {}),
      updated_at: now,
    }))
    .whereRef('campaign_messages.id', '=', 'picked.id')
    .where((eb) => eb('campaign_messages.id', '=', pickedIds(eb)))
    .returning(['campaign_messages.id', 'phone', 'phone_key', 'name', 'email', 'custom_fields', 'generation'])
    .execute()
  return { id, messages: messages as ClaimedMessage[] }
}

/**
 * Repeats the join's condition as `id = any(array(…))`, which always uses the index. Right after a snapshot PostgreSQL's
 * statistics are outdated, and it would plan the join as a nested loop over all rows.
 */
const pickedIds = (eb: ExpressionBuilder<TenantTables & { picked: { id: string } }, 'picked'>) =>
  sql<string>`any(array(${eb.selectFrom('picked').select('picked.id')}))`

/**
 * Reads the campaign's status and the opt-outs again after the claim has committed, to see every opt-out, pause or
 * cancel before it.
 */
export async function recheckBatch(
  ctx: Context,
  campaignId: string,
  messages: readonly ClaimedMessage[],
): Promise<{ status: CampaignStatus | 'deleted'; optedOut: ReadonlySet<string> }> {
  const campaign = await readRunning(ctx, campaignId)
  const optedOut = await optOuts.findOptedOut(
    ctx,
    messages.map((message) => message.phone_key),
  )
  return { status: !campaign || campaign.is_deleted ? 'deleted' : campaign.status, optedOut }
}
