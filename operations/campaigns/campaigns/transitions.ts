/**
 * State transitions of a campaign that a merchant requests. Each begins with one conditional update, so that only one of
 * several concurrent requests succeeds. If a later check fails, the transaction rolls the update back.
 */
import type { RowChange } from '#db/tables'
import { outbox, sending } from '#operations/messaging/index'
import { metering } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { findRow, requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { noCampaign } from '../json.ts'
import type { CampaignRow } from '../rows.ts'
import type { CampaignStatus } from '../schema.ts'
import { cancelPending } from '../sending/cancel.ts'
import {
  findAudience,
  requireSendContext,
  type SendContext,
  toConflict,
  type UnmetPrecondition,
} from '../sending/readiness.ts'
import { estimateFinish } from '../sending/times.ts'

const startable = ['draft', 'scheduled', 'failed'] as const

/**
 * Moves a campaign from one of the states `from` to `to`, and also updates `columns`. Refuses other states, and says
 * what to do instead.
 */
async function transition(
  ctx: Context,
  id: string,
  from: readonly CampaignStatus[],
  to: CampaignStatus,
  columns: RowChange<'campaigns'>,
  remedy: Partial<Record<CampaignStatus, string>>,
): Promise<CampaignRow> {
  const moving = ctx.db
    .updateTable('campaigns')
    .set({ ...columns, status: to, updated_at: ctx.now() })
    .where('deleted_at', 'is', null)
    .where('status', 'in', from)
    .returningAll()
  const moved = await findRow(moving, id)
  if (moved) return moved as CampaignRow
  const existing = ctx.db.selectFrom('campaigns').select('status').where('deleted_at', 'is', null)
  const status = (await requireRow(existing, id, noCampaign)).status as CampaignStatus
  throw refuse('conflict', remedy[status] ?? `The campaign is ${status}: this is not possible now`)
}

const cannotStart: Partial<Record<CampaignStatus, string>> = {
  sending: 'The campaign is being sent already',
  paused: 'The campaign is paused: resume it instead',
  sent: 'The campaign was sent already: duplicate it to send it again',
  cancelled: 'The campaign was cancelled: duplicate it to send it',
}

/** The columns to write when a campaign starts sending. */
export const startedColumns = (now: Date) => ({
  scheduled_at: null,
  started_at: now,
  paused_at: null,
  completed_at: null,
  failure_reason: null,
  ...resetColumns(now),
})

/** Resets the columns that describe the time since the last start or resume. */
const resetColumns = (now: Date) => ({
  pause_reason: null,
  attempted_since_start: 0,
  failed_since_start: 0,
  trouble_since: null,
  last_progress_at: now,
  next_batch_at: null,
  estimated_finish_at: null,
})

const noList: UnmetPrecondition = {
  reason: 'empty-audience',
  message: 'listId: the contact list of the campaign was deleted: choose another one first',
}

/** Starts sending now and reserves quota for the audience. The checks are in the order of rule 2. */
export async function startSending(ctx: Context, id: string): Promise<void> {
  const campaign = await transition(ctx, id, startable, 'sending', startedColumns(ctx.now()), cannotStart)
  if (campaign.list_id === null) throw toConflict(noList)
  const sendContext = await requireSendContext(ctx, campaign.content)
  const found = await findAudience(ctx, campaign.list_id, campaign.content, sendContext)
  if ('reason' in found) throw toConflict(found)
  await saveEstimatedFinish(ctx, campaign, sendContext, found.reachable)
  await saveReservation(ctx, id, await metering.reserve(ctx, found.reachable, 'messaging-campaign'))
}

export async function saveReservation(ctx: Context, id: string, reservationId: string): Promise<void> {
  await ctx.db.updateTable('campaigns').set({ reservation_id: reservationId }).where('id', '=', id).execute()
}

/** Schedules a campaign, or changes the time of a scheduled one. */
export async function scheduleSending(ctx: Context, id: string, at: Date): Promise<void> {
  const columns = { scheduled_at: at, failure_reason: null, completed_at: null }
  const campaign = await transition(ctx, id, startable, 'scheduled', columns, cannotStart)
  if (campaign.list_id === null) throw toConflict(noList)
  await requireSendContext(ctx, campaign.content)
}

const cannotPause: Partial<Record<CampaignStatus, string>> = {
  paused: 'The campaign is paused already',
}

/** Pauses a campaign. The pause takes effect between batches: messages that are already claimed may still be sent. */
export async function pauseSending(ctx: Context, id: string): Promise<void> {
  const columns = { pause_reason: 'manual' as const, paused_at: ctx.now(), next_batch_at: null }
  await transition(ctx, id, ['sending'], 'paused', columns, cannotPause)
  await ctx.logWorkState('paused', 'manual', { campaignId: id })
}

/** Resumes a paused campaign with the same audience. */
export async function resumeSending(ctx: Context, id: string): Promise<void> {
  const columns = { paused_at: null, ...resetColumns(ctx.now()) }
  const campaign = await transition(ctx, id, ['paused'], 'sending', columns, {})
  await saveEstimatedFinish(
    ctx,
    campaign,
    await requireSendContext(ctx, campaign.content, { hasBegun: true }),
    campaign.pending,
  )
  await ctx.logWorkState('resumed', 'manual', { campaignId: id })
}

/**
 * Saves a first estimate of when the campaign finishes. Each batch corrects it, but the first may have to wait for the
 * send window.
 */
async function saveEstimatedFinish(
  ctx: Context,
  campaign: CampaignRow,
  { connection }: SendContext,
  messages: number,
): Promise<void> {
  const perSecond = (await sending.readRatePerSecond(ctx, connection)) * outbox.campaignRateShare
  const at = estimateFinish(messages, perSecond, campaign.send_window, ctx.store.timezone, ctx.now())
  await ctx.db
    .updateTable('campaigns')
    .set({ estimated_finish_at: at })
    .where('id', '=', campaign.id)
    .execute()
}

/** Cancels a campaign and its pending messages. It cannot be resumed. */
export async function cancelSending(ctx: Context, id: string): Promise<void> {
  const columns = { pause_reason: null, completed_at: ctx.now(), next_batch_at: null }
  const from = ['scheduled', 'sending', 'paused'] as const
  const campaign = await transition(ctx, id, from, 'cancelled', columns, {})
  await cancelPending(ctx, campaign)
  await ctx.logWorkState('finished', 'manual', { campaignId: id, status: 'cancelled' })
}
