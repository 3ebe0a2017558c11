/**
 * A run of the job `campaign-send`. It sends batches until the campaign ends or stops, or the run's 20 seconds are over
 * (rule 3).
 */

import { sql } from 'kysely'
import { outbox, sending } from '#operations/messaging/index'
import { mayUse } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import { waitUntil } from '#runtime/pause'
import { campaignSend } from '../handles.ts'
import type { PauseReason } from '../schema.ts'
import { takeSnapshot } from './audience.ts'
import { type Claim, type ClaimOptions, claimMessages, type RunningCampaign, readRunning } from './claims.ts'
import { finishSending, type StopReason, stopSending } from './completion.ts'
import { deliverBatch } from './deliver.ts'
import { isAttempt } from './outbox-source.ts'
import { findSendContext, isUnmet, type SendContext } from './readiness.ts'
import { recordResults } from './record.ts'
import { resolveDeadClaims } from './recovery.ts'
import { estimateFinish, findNextOpening, isOpen, measureIdleMs } from './times.ts'

export interface SendWork {
  campaignId: string
  /** Rate slots of the number that are already reserved for this run. */
  places: number
}
/** Queues the next run, in the transaction that ends this one. */
const queueNext = (tx: Context, work: SendWork, at: Date | null) =>
  tx.queue(campaignSend, work, at ? { at } : {})

/** Duration of a run. It is short, because a run occupies one of the worker's few job slots. */
const runMs = 20_000
const giveUpAfterMs = 30 * minuteMs
/**
 * A campaign without progress for this long, not counting the time outside its send window, is paused until the merchant
 * resumes it. A scheduled campaign may start late by the same time.
 */
const staleAfterMs = 3 * hourMs
const firstBackoffMs = 15_000
const maxBackoffMs = 5 * minuteMs

/** The next action of the run. Every action except `send` ends the run. */
type Action =
  | { kind: 'send'; run: BatchContext; options: ClaimOptions }
  | { kind: 'end' }
  | { kind: 'finish' }
  | { kind: 'stop'; reason: StopReason }
  | { kind: 'wait'; run: BatchContext; at: Date; places?: number; reason?: 'send-window' }
  | { kind: 'next-run'; places: number }

export async function sendCampaign(ctx: Context, work: SendWork, signal: AbortSignal): Promise<void> {
  const { campaignId } = work
  const until = performance.now() + runMs
  const isOver = (): boolean => signal.aborted || performance.now() > until
  if (await isStale(ctx, campaignId)) return stopSending(ctx, campaignId, 'missed-schedule')
  await takeSnapshot(ctx, campaignId)
  let action = await nextAction(ctx, work, isOver(), signal)
  while (action.kind === 'send') {
    action =
      (await sendNextBatch(ctx, action.run, action.options)) ??
      (await nextAction(ctx, { campaignId, places: 0 }, isOver(), signal))
  }
  switch (action.kind) {
    case 'end':
      return
    case 'finish':
      await finishSending(ctx, campaignId)
      return
    case 'stop':
      return stopSending(ctx, campaignId, action.reason)
    case 'wait':
      return continueAt(ctx, action.run, action)
    case 'next-run':
      await queueNext(ctx, { campaignId, places: action.places }, null)
  }
}

/** Reads the campaign and its preconditions, and reserves rate slots for the batch that it may send. */
async function nextAction(
  ctx: Context,
  { campaignId, places: reserved }: SendWork,
  isOver: boolean,
  signal: AbortSignal,
): Promise<Action> {
  const campaign = await readRunning(ctx, campaignId)
  if (campaign?.status !== 'sending' || campaign.is_deleted) return { kind: 'end' }
  if (campaign.pending === 0) return { kind: 'finish' }
  if (isOver) return { kind: 'next-run', places: reserved }
  if (!(await mayUse(ctx, 'campaigns'))) return { kind: 'stop', reason: 'subscription-inactive' }
  const sendContext = await findSendContext(ctx, campaign.content)
  if (isUnmet(sendContext)) return { kind: 'stop', reason: sendContext.reason }

  const perSecond = await sending.readRatePerSecond(ctx, sendContext.connection)
  const run: BatchContext = { campaign, sendContext, perSecond }
  const { send_window: window } = campaign
  if (window && !isOpen(window, ctx.store.timezone, ctx.now())) {
    const at = findNextOpening(window, ctx.store.timezone, ctx.now())
    return { kind: 'wait', run, at, reason: 'send-window' }
  }
  const isIdempotent = await sending.isIdempotent(ctx)
  const hasDead =
    campaign.oldest_claim !== null && ctx.clock.ms() - +campaign.oldest_claim >= outbox.deadAfterMs
  if (hasDead && !isIdempotent) await resolveDeadClaims(ctx, campaignId)
  const which = hasDead && isIdempotent ? 'dead' : 'pending'
  if (which === 'pending' && !campaign.has_pending) {
    return { kind: 'wait', run, at: findNextCheck(ctx, campaign) }
  }
  if (reserved > 0) return { kind: 'send', run, options: { which, isIdempotent, limit: reserved } }

  const limit = Math.min(outbox.getBatchSize(perSecond, outbox.campaignRateShare), campaign.pending)
  const slotAt = await sending.reserveRateSlots(ctx, sendContext.connection, limit, outbox.campaignRateShare)
  if (!(await waitUntil(ctx.clock, slotAt, signal))) return { kind: 'wait', run, at: slotAt, places: limit }
  return { kind: 'send', run, options: { which, isIdempotent, limit } }
}

/** Claims and sends one batch. Returns the action that ends the run, or null if the run continues. */
async function sendNextBatch(ctx: Context, run: BatchContext, options: ClaimOptions): Promise<Action | null> {
  const claim = await claimMessages(ctx, run.campaign.id, options)
  if (!claim) return { kind: 'end' }
  if (claim.messages.length === 0) return null
  const { stoppedBy, progress } = await sendBatch(ctx, run, claim, options)
  if (progress.status !== 'sending') return { kind: 'end' }
  if (stoppedBy) return afterStop(ctx, run, stoppedBy, progress)
  const isStopped = progress.pending > 0 && isFailing(progress)
  return isStopped ? { kind: 'stop', reason: 'high-failure-rate' } : null
}

/**
 * Whether the campaign has had no progress for too long, for example after a downtime. The time until a planned next
 * batch does not count.
 */
async function isStale(ctx: Context, campaignId: string): Promise<boolean> {
  const campaign = await readRunning(ctx, campaignId)
  if (campaign?.status !== 'sending' || campaign.is_deleted || campaign.due_since === null) return false
  const { send_window: window, due_since: since } = campaign
  return measureIdleMs(window, ctx.store.timezone, since, ctx.now()) > staleAfterMs
}

/** The campaign's data that a batch needs. */
interface BatchContext {
  campaign: RunningCampaign
  sendContext: SendContext
  perSecond: number
}

const estimateRunFinish = (
  ctx: Context,
  { campaign, perSecond }: BatchContext,
  pending: number,
  from: Date,
): Date =>
  estimateFinish(
    pending,
    perSecond * outbox.campaignRateShare,
    campaign.send_window,
    ctx.store.timezone,
    from,
  )

/** The campaign's state after a batch. */
interface Progress {
  status: string
  pending: number
  attempted_since_start: number
  failed_since_start: number
  trouble_since: Date | null
  pause_reason: PauseReason | null
}

async function sendBatch(
  ctx: Context,
  run: BatchContext,
  claim: Claim,
  { which, isIdempotent }: ClaimOptions,
): Promise<{ stoppedBy: outbox.RequeueReason | null; progress: Progress }> {
  const { campaign, sendContext } = run
  const { results, stoppedBy, error } = await deliverBatch(ctx, {
    campaign,
    sendContext,
    claim,
    isIdempotent,
    isSecondCall: which === 'dead',
    canSendWhile: (status) => status === 'sending',
  })
  const progress = await ctx.transaction(async (tx) => {
    const moves = await recordResults(tx, claim.id, results)
    const remaining = campaign.pending - moves.filter(({ after: { status } }) => status !== 'pending').length
    const now = tx.now()
    const troubleSince = stoppedBy ? sql<Date>`coalesce(trouble_since, ${now})` : sql<Date>`trouble_since`
    const hasLeft = moves.some(isAttempt)
    const waitReason = findWaitReason(campaign, stoppedBy, now)
    const after = await tx.db
      .updateTable('campaigns')
      .set({
        // `trouble_since`: since when no message could be dispatched.
        trouble_since: hasLeft ? null : troubleSince,
        // A merchant may have paused it meanwhile.
        ...(waitReason || hasLeft
          ? { pause_reason: sql`case when status = 'sending' then ${waitReason}::text else pause_reason end` }
          : {}),
        last_progress_at: now,
        next_batch_at: null,
        estimated_finish_at: estimateRunFinish(tx, run, remaining, now),
        updated_at: now,
      })
      .where('id', '=', campaign.id)
      .returning(['status', 'pending', 'attempted_since_start', 'failed_since_start'])
      .returning(['trouble_since', 'pause_reason'])
      .executeTakeFirstOrThrow()
    const { status, pause_reason: reason } = after
    const before = campaign.pause_reason ?? (hasAwaitedWindow(ctx, campaign) ? 'send-window' : null)
    if (status === 'sending' && reason !== before) {
      await tx.logWorkState(reason ? 'waiting' : 'resumed', reason ?? before, { campaignId: campaign.id })
    }
    return after
  })
  if (error) throw error
  return { stoppedBy, progress }
}

/** Whether the batch is the first one since the send window opened. */
function hasAwaitedWindow(
  ctx: Context,
  { send_window: window, next_batch_at: at }: RunningCampaign,
): boolean {
  if (!window || !at) return false
  const opening = findNextOpening(window, ctx.store.timezone, new Date(at.getTime() - 1))
  return opening.getTime() === at.getTime()
}

/** Why the campaign waits after a batch; null if it goes on, or will be paused. A short throttling is its usual pace. */
function findWaitReason(
  { trouble_since: since }: RunningCampaign,
  stoppedBy: outbox.RequeueReason | null,
  now: Date,
): PauseReason | null {
  if (stoppedBy?.reason === 'provider-unavailable') return stoppedBy.reason
  if (stoppedBy?.reason !== 'throttled') return null
  const lastsMs = Math.max(stoppedBy.afterMs, since ? now.getTime() - since.getTime() : 0)
  return lastsMs >= minuteMs ? 'provider-unavailable' : null
}

/**
 * Ends this run and queues the next one for `at`. `places` is the number of rate slots that are reserved for the next
 * run.
 */
async function continueAt(
  ctx: Context,
  run: BatchContext,
  { at, places = 0, reason }: Extract<Action, { kind: 'wait' }>,
): Promise<void> {
  const { campaign } = run
  await ctx.transaction(async (tx) => {
    const shown = await tx.db
      .updateTable('campaigns')
      .set({
        next_batch_at: at,
        estimated_finish_at: estimateRunFinish(ctx, run, campaign.pending, at),
        updated_at: tx.now(),
      })
      .where('id', '=', campaign.id)
      .where('status', '=', 'sending')
      .where('deleted_at', 'is', null)
      .returning('id')
      .execute()
    if (shown.length > 0 && reason && campaign.next_batch_at?.getTime() !== at.getTime()) {
      await tx.logWorkState('waiting', reason, { campaignId: campaign.id, until: at })
    }
    if (shown.length > 0) await queueNext(tx, { campaignId: campaign.id, places }, at)
  })
}

/**
 * Stops the campaign if the connection is lost or the number's daily limit is reached. Waits if the provider throttles
 * or is unavailable.
 */
function afterStop(
  ctx: Context,
  run: BatchContext,
  stoppedBy: outbox.RequeueReason,
  { trouble_since: since }: Progress,
): Action {
  const now = ctx.clock.ms()
  if (stoppedBy.reason === 'throttled') return { kind: 'wait', run, at: new Date(now + stoppedBy.afterMs) }
  if (stoppedBy.reason === 'disconnected') return { kind: 'stop', reason: 'connection-lost' }
  if (stoppedBy.reason === 'number-limit') return { kind: 'stop', reason: stoppedBy.reason }
  const lastedMs = since ? now - since.getTime() : 0
  if (lastedMs >= giveUpAfterMs) return { kind: 'stop', reason: 'provider-unavailable' }
  // Exponential backoff of 15, 30, 60… seconds: each wait is the outage so far plus 15 seconds.
  return { kind: 'wait', run, at: new Date(now + Math.min(lastedMs + firstBackoffMs, maxBackoffMs)) }
}

const isFailing = ({ attempted_since_start: attempted, failed_since_start: failed }: Progress): boolean =>
  attempted >= 200 && failed > attempted * 0.3

/** When to check again if other workers have claimed all remaining messages: once the oldest claim counts as dead. */
const findNextCheck = (ctx: Context, { oldest_claim: oldest }: RunningCampaign): Date =>
  new Date(Math.max((oldest?.getTime() ?? 0) + outbox.deadAfterMs, ctx.clock.ms() + firstBackoffMs))
