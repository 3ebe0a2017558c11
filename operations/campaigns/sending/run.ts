/** The run of a campaign: batch after batch, until it is done, stopped, or its time is over (rule 3). */

import { sql } from 'kysely'
import { outbox, sending } from '#operations/messaging/door'
import { mayUse } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import { clockReaches } from '#runtime/pause'
import { campaignSend } from '../handles.ts'
import { takeSnapshot } from './audience.ts'
import { type Claim, claimMessages, type RunningCampaign, readRunning, type Wanted } from './claims.ts'
import { deliverBatch } from './deliver.ts'
import { finishSending, stopSending } from './endings.ts'
import { isAttempt } from './lane.ts'
import { findMeans, isProblem, type Means } from './readiness.ts'
import { recordResults } from './record.ts'
import { settleDeadClaims } from './recovery.ts'
import { estimatedFinish, isOpen, nextOpening, stoodStillMs } from './times.ts'

export interface SendWork {
  campaignId: string
  /** Places on the number that were taken for this run already. */
  places: number
}
/** Queues the run's successor, in the transaction that ends it. */
const queueNext = (tx: Context, work: SendWork, at: Date | null) =>
  tx.queue(campaignSend, work, at ? { at } : {})

/** A run holds one of the worker's few places: others want it too. */
const runMs = 20_000
const giveUpAfterMs = 30 * minuteMs
/** A campaign is of its day: found as late as one that is scheduled may be, it goes on only when the merchant says so. */
const standsAtMostMs = 3 * hourMs
const firstWaitMs = 15_000
const longestWaitMs = 5 * minuteMs

export async function sendCampaign(ctx: Context, work: SendWork, signal: AbortSignal): Promise<void> {
  const { campaignId } = work
  const until = performance.now() + runMs
  let { places } = work
  if (await hasStood(ctx, campaignId)) return stopSending(ctx, campaignId, 'missed-schedule')
  await takeSnapshot(ctx, campaignId)
  for (;;) {
    const campaign = await readRunning(ctx, campaignId)
    if (campaign?.status !== 'sending' || campaign.is_deleted) return
    if (campaign.pending === 0) {
      await finishSending(ctx, campaignId)
      return
    }
    if (signal.aborted || performance.now() > until) {
      await queueNext(ctx, { campaignId, places }, null)
      return
    }
    if (!(await mayUse(ctx, 'campaigns'))) return stopSending(ctx, campaignId, 'subscription-inactive')
    const means = await findMeans(ctx, campaign.content)
    if (isProblem(means)) return stopSending(ctx, campaignId, means.reason)

    const perSecond = await sending.ratePerSecond(ctx, means.connection)
    const run: Run = { campaign, means, perSecond }
    const { send_window: window } = campaign
    if (window && !isOpen(window, ctx.store.timezone, ctx.now())) {
      return goOnAt(ctx, run, nextOpening(window, ctx.store.timezone, ctx.now()))
    }
    const isIdempotent = await sending.isIdempotent(ctx)
    const hasDead =
      campaign.oldest_claim !== null && ctx.clock.ms() - +campaign.oldest_claim >= outbox.deadAfterMs
    if (hasDead && !isIdempotent) await settleDeadClaims(ctx, campaignId)
    const which = hasDead && isIdempotent ? 'dead' : 'pending'
    if (which === 'pending' && !campaign.has_pending) return goOnAt(ctx, run, nextLook(ctx, campaign))

    if (places === 0) {
      places = Math.min(outbox.turnSize(perSecond, outbox.campaignShare), campaign.pending)
      const turn = await sending.takeTurn(ctx, means.connection, places, outbox.campaignShare)
      if (!(await clockReaches(ctx.clock, turn, signal))) return goOnAt(ctx, run, turn, places)
    }
    const wanted: Wanted = { which, isIdempotent, atMost: places }
    const claim = await claimMessages(ctx, campaignId, wanted)
    if (!claim) return
    places = 0
    if (claim.messages.length === 0) continue

    const { trouble, progress } = await sendBatch(ctx, run, claim, wanted)
    if (progress.status !== 'sending') return
    if (trouble) return handleTrouble(ctx, run, trouble, progress)
    if (progress.pending > 0 && isFailing(progress)) {
      return stopSending(ctx, campaignId, 'high-failure-rate')
    }
  }
}

/** We were away: of those who retry and wait each writes down when it goes on. */
async function hasStood(ctx: Context, campaignId: string): Promise<boolean> {
  const campaign = await readRunning(ctx, campaignId)
  if (campaign?.status !== 'sending' || campaign.is_deleted || campaign.due_since === null) return false
  const { send_window: window, due_since: since } = campaign
  return stoodStillMs(window, ctx.store.timezone, since, ctx.now()) > standsAtMostMs
}

/** What a batch has to do with. */
interface Run {
  campaign: RunningCampaign
  means: Means
  perSecond: number
}

const finishOf = (ctx: Context, { campaign, perSecond }: Run, pending: number, from: Date): Date =>
  estimatedFinish(pending, perSecond * outbox.campaignShare, campaign.send_window, ctx.store.timezone, from)

/** What the run needs to know after a batch. */
interface Progress {
  status: string
  pending: number
  attempted_since_start: number
  failed_since_start: number
  trouble_since: Date | null
}

async function sendBatch(
  ctx: Context,
  run: Run,
  claim: Claim,
  { which, isIdempotent }: Wanted,
): Promise<{ trouble: outbox.Trouble | null; progress: Progress }> {
  const { campaign, means } = run
  const { results, trouble, error } = await deliverBatch(ctx, {
    campaign,
    means,
    claim,
    isIdempotent,
    isSecondCall: which === 'dead',
    leavesWhile: (status) => status === 'sending',
  })
  const progress = await ctx.transaction(async (tx) => {
    const moves = await recordResults(tx, claim.id, results)
    const left = campaign.pending - moves.filter(({ after: { status } }) => status !== 'pending').length
    const now = tx.now()
    const troubleSince = trouble ? sql<Date>`coalesce(trouble_since, ${now})` : sql<Date>`trouble_since`
    return tx.db
      .updateTable('campaigns')
      .set({
        // Since when nothing at all could be handed over.
        trouble_since: moves.some(isAttempt) ? null : troubleSince,
        last_progress_at: now,
        next_batch_at: null,
        estimated_finish_at: finishOf(tx, run, left, now),
        updated_at: now,
      })
      .where('id', '=', campaign.id)
      .returning(['status', 'pending', 'attempted_since_start', 'failed_since_start', 'trouble_since'])
      .executeTakeFirstOrThrow()
  })
  if (error) throw error
  return { trouble, progress }
}

/** Ends the run; its successor is queued for `at`, with the places that were taken on the number for it. */
async function goOnAt(ctx: Context, run: Run, at: Date, places = 0): Promise<void> {
  const { campaign } = run
  await ctx.transaction(async (tx) => {
    const shown = await tx.db
      .updateTable('campaigns')
      .set({
        next_batch_at: at,
        estimated_finish_at: finishOf(ctx, run, campaign.pending, at),
        updated_at: tx.now(),
      })
      .where('id', '=', campaign.id)
      .where('status', '=', 'sending')
      .where('deleted_at', 'is', null)
      .returning('id')
      .execute()
    if (shown.length > 0) await queueNext(tx, { campaignId: campaign.id, places }, at)
  })
}

/** The number's daily limit, a lost connection: stop. Too fast, or down: wait. */
async function handleTrouble(
  ctx: Context,
  run: Run,
  trouble: outbox.Trouble,
  { trouble_since: since }: Progress,
): Promise<void> {
  const now = ctx.clock.ms()
  const { id } = run.campaign
  if (trouble.reason === 'throttled') return goOnAt(ctx, run, new Date(now + trouble.afterMs))
  if (trouble.reason === 'disconnected') return stopSending(ctx, id, 'connection-lost')
  if (trouble.reason === 'number-limit') return stopSending(ctx, id, trouble.reason)
  const lastedMs = since ? now - since.getTime() : 0
  if (lastedMs >= giveUpAfterMs) return stopSending(ctx, id, 'provider-unavailable')
  // After 0, 15, 45, 105… seconds of trouble: 15 s, doubling.
  return goOnAt(ctx, run, new Date(now + Math.min(lastedMs + firstWaitMs, longestWaitMs)))
}

const isFailing = ({ attempted_since_start: attempted, failed_since_start: failed }: Progress): boolean =>
  attempted >= 200 && failed > attempted * 0.3

/** Everything left is claimed by others: look when the first of them would be dead. */
const nextLook = (ctx: Context, { oldest_claim: oldest }: RunningCampaign): Date =>
  new Date(Math.max((oldest?.getTime() ?? 0) + outbox.deadAfterMs, ctx.clock.ms() + firstWaitMs))
