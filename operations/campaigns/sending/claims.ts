/** Claims: a worker claims messages in the database before it sends them. */
import { type ExpressionBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { optOuts, outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { greatestKnown } from '#runtime/database/sql'
import type { CampaignContent, CampaignStatus, SendWindow } from '../schema.ts'
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
  has_pending: boolean
  /** The later of its last progress and its next planned batch. */
  due_since: Date | null
  /** The oldest claim among the messages that are `sending`. */
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

/** Reads the campaign for a run, also a deleted one. Undefined once it is purged. */
export async function readRunning(ctx: Context, id: string): Promise<RunningCampaign | undefined> {
  return (await findRunning(ctx, { id }))[0]
}

/** `dead`: claims of dead workers, which are sent again only if the provider deduplicates by key. */
export interface ClaimOptions {
  which: 'pending' | 'dead'
  /** Whether the provider deduplicates by key. If not, each call is recorded before it is made. */
  isIdempotent: boolean
  limit: number
  /** Claims only this message, whatever the campaign's state, unless it is cancelled or deleted. */
  messageId?: string
}

/**
 * Claims the oldest messages of a campaign that is sending. It locks the campaign's row in share mode, so that no
 * message is claimed after a pause or cancel was answered. Null if the campaign is no longer sending.
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
    // Materialized: a join could run it more than once and lock more rows than `limit`.
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
      // A resend under the same key counts as the same attempt.
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
 * Repeats the condition as `any(array(…))`, which always uses the index. Right after a snapshot the planner's
 * statistics lag, and it planned the join alone as a nested loop over all rows.
 */
const pickedIds = (eb: ExpressionBuilder<TenantTables & { picked: { id: string } }, 'picked'>) =>
  sql<string>`any(array(${eb.selectFrom('picked').select('picked.id')}))`

/** Reads status and opt-outs after the claim's commit, so that every earlier opt-out, pause or cancel is seen. */
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
