/** One failed message, sent again. */

import { optOuts, sending } from '#operations/messaging/door'
import { metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { clockReaches } from '#runtime/pause'
import { isId } from '#runtime/values/ids'
import { campaignMessageSend } from '../handles.ts'
import { lockCampaign } from '../rows.ts'
import { claimMessage, deadAfterMs, readRunning } from './claims.ts'
import { deliverBatch, type Result, type Trouble } from './deliver.ts'
import { share } from './pace.ts'
import { findMeans, isProblem, type Means, mayLeave, requireMeans } from './readiness.ts'
import { recordResults } from './record.ts'
import { isOver, settleDeadClaims } from './recovery.ts'
import { isOpen, nextOpening } from './times.ts'

const attemptsAtMost = 5

/** `failed` to `pending`, under a new key, with a unit of its own. Refuses what cannot be sent again. */
export async function retryMessage(ctx: Context, campaignId: string, messageId: string): Promise<void> {
  const campaign = await lockCampaign(ctx, campaignId)
  const message = isId(messageId)
    ? await ctx.db
        .selectFrom('campaign_messages')
        .select(['id', 'status', 'attempts', 'phone', 'phone_key'])
        .where('id', '=', messageId)
        .where('campaign_id', '=', campaignId)
        .forUpdate()
        .executeTakeFirst()
    : undefined
  if (!message) throw refuse('not_found', 'There is no such message in this campaign')
  if (message.status !== 'failed') {
    throw refuse('conflict', `The message is ${message.status}: only a failed one can be sent again`)
  }
  if (message.attempts >= attemptsAtMost) {
    throw refuse('conflict', `The message was tried ${attemptsAtMost} times already, which is the most`)
  }
  if (campaign.status === 'cancelled')
    throw refuse('conflict', 'The campaign was cancelled: nothing of it leaves')
  if ((await optOuts.among(ctx, [message.phone_key])).size > 0) {
    throw refuse('conflict', `${message.phone} is opted out: campaigns do not write to it`)
  }
  await requireMeans(ctx, campaign.content)
  const reservationId = await metering.reserve(ctx, 1, 'messaging-campaign')
  const now = ctx.now()
  await ctx.db
    .updateTable('campaign_messages')
    .set((eb) => ({
      status: 'pending',
      generation: eb('generation', '+', 1),
      unit: 'reserved',
      reservation_id: reservationId,
      failure_code: null,
      failure_message: null,
      failed_at: null,
      sent_at: null,
      provider_message_id: null,
      updated_at: now,
    }))
    .where('id', '=', messageId)
    .execute()
  await ctx.db
    .updateTable('campaigns')
    .set((eb) => ({ failed: eb('failed', '-', 1), pending: eb('pending', '+', 1), updated_at: now }))
    .where('id', '=', campaignId)
    .execute()
}

export interface RetryWork {
  campaignId: string
  messageId: string
  /** Its place on the number is taken already. */
  hasPlace: boolean
  /** Milliseconds; since when the provider takes nothing, or null. */
  troubleSince: number | null
}
const queueAgain = (ctx: Context, work: RetryWork, at: Date) => ctx.queue(campaignMessageSend, work, { at })

const giveUpAfterMs = 30 * 60_000
const againAfterMs = 60_000

/** Sends that one message as a batch of its own, in any state of the campaign but cancelled. */
export async function sendMessage(ctx: Context, work: RetryWork, signal: AbortSignal): Promise<void> {
  const { campaignId, messageId } = work
  const campaign = await readRunning(ctx, campaignId)
  if (!campaign || isOver(campaign)) return
  const means = (await mayLeave(ctx)) ? await findMeans(ctx, campaign.content) : null
  if (!means)
    return giveUp(ctx, campaignId, messageId, 'The subscription or the plan does not allow campaigns')
  if (isProblem(means)) return giveUp(ctx, campaignId, messageId, means.message)
  const { send_window: window } = campaign
  if (window && !isOpen(window, ctx.store.timezone, ctx.now())) {
    // A provider that was down before the night is given its time anew.
    const opening = nextOpening(window, ctx.store.timezone, ctx.now())
    await queueAgain(ctx, { ...work, hasPlace: false, troubleSince: null }, opening)
    return
  }
  if (!work.hasPlace) {
    const turn = await sending.takeTurn(ctx, means.connection, 1, share)
    if (!(await clockReaches(ctx.clock, turn, signal))) {
      await queueAgain(ctx, { ...work, hasPlace: true }, turn)
      return
    }
  }
  const isIdempotent = await sending.isIdempotent(ctx)
  const pending = await claimMessage(ctx, campaignId, { which: 'pending', isIdempotent }, messageId)
  const claim =
    pending ??
    (isIdempotent ? await claimMessage(ctx, campaignId, { which: 'dead', isIdempotent }, messageId) : null)
  if (!claim) return waitForClaim(ctx, work, isIdempotent)
  const delivered = await deliverBatch(ctx, {
    campaign,
    means,
    claim,
    isIdempotent,
    isSecondCall: pending === null,
    leavesWhile: (status) => status !== 'cancelled' && status !== 'deleted',
  })
  await recordResults(ctx, campaignId, claim.id, delivered.results)
  if (delivered.error) throw delivered.error
  if (delivered.trouble) await handleTrouble(ctx, work, means, delivered.trouble)
}

/** Another worker has it, or had it and died. */
async function waitForClaim(ctx: Context, work: RetryWork, isIdempotent: boolean): Promise<void> {
  if (!isIdempotent) await settleDeadClaims(ctx, work.campaignId)
  const message = await ctx.db
    .selectFrom('campaign_messages')
    .select(['status', 'claimed_at'])
    .where('id', '=', work.messageId)
    .executeTakeFirst()
  if (message?.status !== 'sending' && message?.status !== 'pending') return
  const deadAt = (message.claimed_at?.getTime() ?? 0) + deadAfterMs
  await queueAgain(
    ctx,
    { ...work, hasPlace: false },
    new Date(Math.max(deadAt, ctx.clock.ms() + againAfterMs / 4)),
  )
}

async function handleTrouble(
  ctx: Context,
  work: RetryWork,
  { connection }: Means,
  trouble: Trouble,
): Promise<void> {
  const now = ctx.clock.ms()
  const { campaignId, messageId } = work
  switch (trouble.reason) {
    case 'throttled': {
      const until = new Date(now + trouble.afterMs)
      await sending.throttled(ctx, connection, until)
      await queueAgain(ctx, { ...work, hasPlace: false }, until)
      return
    }
    case 'connection-lost':
      return giveUp(
        ctx,
        campaignId,
        messageId,
        'No messaging connection can send: connect or select one first',
      )
    case 'number-limit':
      return giveUp(
        ctx,
        campaignId,
        messageId,
        "The number's daily limit is reached: try again when it is free",
      )
    case 'provider-unavailable': {
      const troubleSince = work.troubleSince ?? now
      if (now - troubleSince >= giveUpAfterMs) {
        return giveUp(ctx, campaignId, messageId, 'The messaging provider took nothing for 30 minutes')
      }
      await queueAgain(ctx, { ...work, hasPlace: false, troubleSince }, new Date(now + againAfterMs))
    }
  }
}

/** The message is `failed` again, where it waits still; its unit goes back. */
export async function giveUp(
  ctx: Context,
  campaignId: string,
  messageId: string,
  reason: string,
): Promise<void> {
  const claim = await claimMessage(ctx, campaignId, { which: 'pending', isIdempotent: false }, messageId)
  if (!claim) return
  const results = claim.messages.map(
    (message): Result => ({ is: 'failed', message, code: 'provider-error', reason }),
  )
  await recordResults(ctx, campaignId, claim.id, results)
}
