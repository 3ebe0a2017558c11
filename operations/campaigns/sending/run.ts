/** The run of a campaign: batch after batch, until it is done, stopped, or its time is over (rule 3). */

import { sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { clockReaches } from '#runtime/pause'
import { campaignSend } from '../handles.ts'
import { takeSnapshot } from './audience.ts'
import {
  type Claim,
  claimMessages,
  deadAfterMs,
  type RunningCampaign,
  readRunning,
  type Wanted,
} from './claims.ts'
import { deliverBatch, type Trouble } from './deliver.ts'
import { finishSending, stopSending } from './endings.ts'
import { batchSize, share } from './pace.ts'
import { findMeans, isProblem, type Means, mayLeave } from './readiness.ts'
import { type Recorded, recordResults } from './record.ts'
import { settleDeadClaims } from './recovery.ts'
import { estimatedFinish, isOpen, nextOpening } from './times.ts'

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
const giveUpAfterMs = 30 * 60_000
const firstWaitMs = 15_000
const longestWaitMs = 5 * 60_000

export async function sendCampaign(ctx: Context, work: SendWork, signal: AbortSignal): Promise<void> {
  const { campaignId } = work
  const until = performance.now() + runMs
  let { places } = work
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
    if (!(await mayLeave(ctx))) return stopSending(ctx, campaignId, 'subscription-inactive')
    const means = await findMeans(ctx, campaign.content)
    if (isProblem(means)) return stopSending(ctx, campaignId, means.reason)

    const perSecond = await sending.ratePerSecond(ctx, means.connection)
    const run: Run = { campaign, means, perSecond }
    const { send_window: window } = campaign
    if (window && !isOpen(window, ctx.store.timezone, ctx.now())) {
      return goOnAt(ctx, run, nextOpening(window, ctx.store.timezone, ctx.now()))
    }
    const isIdempotent = await sending.isIdempotent(ctx)
    const hasDead = campaign.oldest_claim !== null && ctx.clock.ms() - +campaign.oldest_claim >= deadAfterMs
    if (hasDead && !isIdempotent) await settleDeadClaims(ctx, campaignId)
    const which = hasDead && isIdempotent ? 'dead' : 'pending'
    if (which === 'pending' && !campaign.has_pending) return goOnAt(ctx, run, nextLook(ctx, campaign))

    if (places === 0) {
      places = Math.min(batchSize(perSecond), campaign.pending)
      const turn = await sending.takeTurn(ctx, means.connection, places, share)
      if (!(await clockReaches(ctx.clock, turn, signal))) return goOnAt(ctx, run, turn, places)
    }
    const claim = await claimMessages(ctx, campaignId, { which, isIdempotent }, places)
    if (!claim) return
    places = 0
    if (claim.messages.length === 0) continue

    const { trouble, recorded } = await sendBatch(ctx, run, claim, { which, isIdempotent })
    if (recorded.status !== 'sending') return
    if (trouble) return handleTrouble(ctx, run, trouble, recorded)
    if (recorded.pending > 0 && isFailing(recorded)) {
      return stopSending(ctx, campaignId, 'high-failure-rate')
    }
  }
}

/** What a batch has to do with. */
interface Run {
  campaign: RunningCampaign
  means: Means
  perSecond: number
}

const finishOf = (ctx: Context, { campaign, perSecond }: Run, pending: number, from: Date): Date =>
  estimatedFinish(pending, perSecond * share, campaign.send_window, ctx.store.timezone, from)

async function sendBatch(
  ctx: Context,
  run: Run,
  claim: Claim,
  { which, isIdempotent }: Wanted,
): Promise<{ trouble: Trouble | null; recorded: Recorded }> {
  const { campaign, means } = run
  const delivered = await deliverBatch(ctx, {
    campaign,
    means,
    claim,
    isIdempotent,
    isSecondCall: which === 'dead',
    leavesWhile: (status) => status === 'sending',
  })
  const recorded = await recordResults(ctx, campaign.id, claim.id, delivered.results, {
    isTrouble: delivered.trouble !== null,
    finishAt: (pending) => finishOf(ctx, run, pending, ctx.now()),
  })
  if (delivered.error) throw delivered.error
  return { trouble: delivered.trouble, recorded }
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
  trouble: Trouble,
  { troubleSince }: Recorded,
): Promise<void> {
  const now = ctx.clock.ms()
  if (trouble.reason === 'throttled') {
    const until = new Date(now + trouble.afterMs)
    await sending.throttled(ctx, run.means.connection, until)
    return goOnAt(ctx, run, until)
  }
  if (trouble.reason !== 'provider-unavailable') return stopSending(ctx, run.campaign.id, trouble.reason)
  const lastedMs = troubleSince ? now - troubleSince.getTime() : 0
  if (lastedMs >= giveUpAfterMs) return stopSending(ctx, run.campaign.id, 'provider-unavailable')
  // After 0, 15, 45, 105… seconds of trouble: 15 s, doubling.
  return goOnAt(ctx, run, new Date(now + Math.min(lastedMs + firstWaitMs, longestWaitMs)))
}

const isFailing = ({ attempted, failed }: Recorded): boolean => attempted >= 200 && failed > attempted * 0.3

/** Everything left is claimed by others: look when the first of them would be dead. */
const nextLook = (ctx: Context, { oldest_claim: oldest }: RunningCampaign): Date =>
  new Date(Math.max((oldest?.getTime() ?? 0) + deadAfterMs, ctx.clock.ms() + firstWaitMs))
