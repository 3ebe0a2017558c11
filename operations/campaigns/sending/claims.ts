/** Who sends which message: claimed in the database before it leaves. */
import { type ExpressionBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { optOuts, outbox } from '#operations/messaging/door'
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
  /** When something was last done for it, or is to be done next. */
  due_since: Date | null
  /** Of the messages that are `sending` now. */
  oldest_claim: Date | null
}

const running = prepared<{ id: string }, RunningCampaign>(
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

/** The campaign as a sender sees it, deleted ones too; undefined when it is purged. */
export async function readRunning(ctx: Context, id: string): Promise<RunningCampaign | undefined> {
  return (await running(ctx, { id }))[0]
}

/** Pending messages, or those of dead workers: only to be sent again where the provider knows their keys. */
export interface Wanted {
  which: 'pending' | 'dead'
  /** Whether the provider knows a key again. Otherwise each call is written down before it is made. */
  isIdempotent: boolean
  atMost: number
  /** This one alone, in any state of its campaign but cancelled and deleted. */
  messageId?: string
}

/**
 * Claims the oldest messages of a campaign that is sending. Its row is locked in share mode, so that after the answer
 * to a pause or cancel nothing more is claimed. Null: it is no longer sending.
 */
export async function claimMessages(ctx: Context, campaignId: string, wanted: Wanted): Promise<Claim | null> {
  return ctx.transaction(async (tx) => {
    const isOne = wanted.messageId !== undefined
    const open = await tx.db
      .selectFrom('campaigns')
      .select('id')
      .where('id', '=', campaignId)
      .where('status', isOne ? '!=' : '=', isOne ? 'cancelled' : 'sending')
      .where('deleted_at', 'is', null)
      .forShare()
      .execute()
    return open.length === 0 ? null : claimWhere(tx, campaignId, wanted)
  })
}

async function claimWhere(
  tx: Context,
  campaignId: string,
  { which, isIdempotent, atMost, messageId }: Wanted,
): Promise<Claim> {
  const now = tx.now()
  const id = tx.newId()
  const isPending = which === 'pending'
  const messages = await tx.db
    // Materialized: inside a join it could be run again, and lock more rows than it was asked for.
    .with(
      (cte) => cte('picked').materialized(),
      (db) => {
        let picked = db
          .selectFrom('campaign_messages as m')
          .select('m.id')
          .where('m.campaign_id', '=', campaignId)
          .where('m.status', '=', isPending ? 'pending' : 'sending')
          .orderBy('m.id')
          .limit(atMost)
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
      // Sent again under the same key, it is the same attempt.
      ...(isPending ? { attempts: eb('campaign_messages.attempts', '+', 1) } : {}),
      updated_at: now,
    }))
    .whereRef('campaign_messages.id', '=', 'picked.id')
    .where((eb) => eb('campaign_messages.id', '=', amongPicked(eb)))
    .returning(['campaign_messages.id', 'phone', 'phone_key', 'name', 'email', 'custom_fields', 'generation'])
    .execute()
  return { id, messages: messages as ClaimedMessage[] }
}

/**
 * Says once more which rows are meant, in a form that always goes by the index: right after a snapshot the planner's
 * statistics know nothing of its rows, and a join alone was planned as a comparison of all with all.
 */
const amongPicked = (eb: ExpressionBuilder<TenantTables & { picked: { id: string } }, 'picked'>) =>
  sql<string>`any(array(${eb.selectFrom('picked').select('picked.id')}))`

/** What holds after the claim was committed: an opt-out, a pause or a cancel that was answered before is seen. */
export async function lookAgain(
  ctx: Context,
  campaignId: string,
  messages: readonly ClaimedMessage[],
): Promise<{ status: CampaignStatus | 'deleted'; optedOut: ReadonlySet<string> }> {
  const campaign = await readRunning(ctx, campaignId)
  const optedOut = await optOuts.among(
    ctx,
    messages.map((message) => message.phone_key),
  )
  return { status: !campaign || campaign.is_deleted ? 'deleted' : campaign.status, optedOut }
}
