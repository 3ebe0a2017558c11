/**
 * The moves of a campaign that a merchant makes. Each begins with one conditional update, which settles who comes
 * first; a check that fails afterwards undoes it with the transaction.
 */
import type { RowChange } from '#db/tables'
import { outbox, sending } from '#operations/messaging/door'
import { metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { findRow, oneRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { noCampaign } from '../json.ts'
import type { CampaignRow } from '../rows.ts'
import type { CampaignStatus } from '../schema.ts'
import { cancelPending } from '../sending/cancel.ts'
import { findAudience, type Means, type Problem, refusal, requireMeans } from '../sending/readiness.ts'
import { estimatedFinish } from '../sending/times.ts'

const startable = ['draft', 'scheduled', 'failed'] as const

/** Moves a campaign that is in one of these states, or tells why not. `columns`: what else changes. */
async function move(
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
  const there = ctx.db.selectFrom('campaigns').select('status').where('deleted_at', 'is', null)
  const status = (await oneRow(there, id, noCampaign)).status as CampaignStatus
  throw refuse('conflict', remedy[status] ?? `The campaign is ${status}: this is not possible now`)
}

const cannotStart: Partial<Record<CampaignStatus, string>> = {
  sending: 'The campaign is being sent already',
  paused: 'The campaign is paused: resume it instead',
  sent: 'The campaign was sent already: duplicate it to send it again',
  cancelled: 'The campaign was cancelled: duplicate it to send it',
}

/** Columns of a campaign that begins to send. */
export const begun = (now: Date) => ({
  scheduled_at: null,
  started_at: now,
  paused_at: null,
  completed_at: null,
  failure_reason: null,
  ...anew(now),
})

/** What is counted since a start or a resume. */
const anew = (now: Date) => ({
  pause_reason: null,
  attempted_since_start: 0,
  failed_since_start: 0,
  trouble_since: null,
  last_progress_at: now,
  next_batch_at: null,
  estimated_finish_at: null,
})

const noList: Problem = {
  reason: 'empty-audience',
  message: 'The campaign has no contact list any more: choose one first',
}

/** Send now: moves and reserves the audience; the checks in the order of rule 2. */
export async function startSending(ctx: Context, id: string): Promise<void> {
  const campaign = await move(ctx, id, startable, 'sending', begun(ctx.now()), cannotStart)
  if (campaign.list_id === null) throw refusal(noList)
  const means = await requireMeans(ctx, campaign.content)
  const found = await findAudience(ctx, campaign.list_id, campaign.content, means)
  if ('reason' in found) throw refusal(found)
  await expectFinish(ctx, campaign, means, found.reachable)
  await keepReservation(ctx, id, await metering.reserve(ctx, found.reachable, 'messaging-campaign'))
}

export async function keepReservation(ctx: Context, id: string, reservationId: string): Promise<void> {
  await ctx.db.updateTable('campaigns').set({ reservation_id: reservationId }).where('id', '=', id).execute()
}

/** Schedules, or moves the schedule. */
export async function scheduleSending(ctx: Context, id: string, at: Date): Promise<void> {
  const columns = { scheduled_at: at, failure_reason: null, completed_at: null }
  const campaign = await move(ctx, id, startable, 'scheduled', columns, cannotStart)
  if (campaign.list_id === null) throw refusal(noList)
  await requireMeans(ctx, campaign.content)
}

const cannotPause: Partial<Record<CampaignStatus, string>> = {
  paused: 'The campaign is paused already',
}

/** Takes hold between batches: what was claimed before may still leave. */
export async function pauseSending(ctx: Context, id: string): Promise<void> {
  const columns = { pause_reason: 'manual' as const, paused_at: ctx.now(), next_batch_at: null }
  await move(ctx, id, ['sending'], 'paused', columns, cannotPause)
}

/** Goes on with the same audience. */
export async function resumeSending(ctx: Context, id: string): Promise<void> {
  const columns = { paused_at: null, ...anew(ctx.now()) }
  const campaign = await move(ctx, id, ['paused'], 'sending', columns, {})
  await expectFinish(ctx, campaign, await requireMeans(ctx, campaign.content), campaign.pending)
}

/** Foretold at once: the first batch, which knows better, may be a night away. */
async function expectFinish(
  ctx: Context,
  campaign: CampaignRow,
  { connection }: Means,
  messages: number,
): Promise<void> {
  const perSecond = (await sending.ratePerSecond(ctx, connection)) * outbox.campaignShare
  const at = estimatedFinish(messages, perSecond, campaign.send_window, ctx.store.timezone, ctx.now())
  await ctx.db
    .updateTable('campaigns')
    .set({ estimated_finish_at: at })
    .where('id', '=', campaign.id)
    .execute()
}

/** For good; what is pending is cancelled with it. */
export async function cancelSending(ctx: Context, id: string): Promise<void> {
  const columns = { pause_reason: null, completed_at: ctx.now(), next_batch_at: null }
  const from = ['scheduled', 'sending', 'paused'] as const
  const campaign = await move(ctx, id, from, 'cancelled', columns, {})
  await cancelPending(ctx, campaign)
}
