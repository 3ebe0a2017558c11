/** Retries a single failed message of a campaign. */

import { optOuts, outbox, sending } from '#operations/messaging/index'
import { mayUse, metering } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { requireRow } from '#runtime/database/rows'
import { minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { waitUntil } from '#runtime/pause'
import { campaignMessageSend } from '../handles.ts'
import { lockCampaign } from '../rows.ts'
import { claimMessages, readRunning } from './claims.ts'
import { deliverBatch } from './deliver.ts'
import { campaignMessages } from './outbox-source.ts'
import { findSendContext, isUnmet, requireSendContext } from './readiness.ts'
import { type MessageResult, recordResults } from './record.ts'
import { isOver, resolveDeadClaims } from './recovery.ts'
import { findNextOpening, isOpen } from './times.ts'

const maxAttempts = 5

/**
 * Makes a failed message pending again, with a new idempotency key and its own quota unit. Refuses a message that
 * cannot be retried.
 */
export async function retryMessage(ctx: Context, campaignId: string, messageId: string): Promise<void> {
  const campaign = await lockCampaign(ctx, campaignId)
  const messages = ctx.db
    .selectFrom('campaign_messages')
    .select(['id', 'status', 'attempts', 'phone', 'phone_key'])
    .where('campaign_id', '=', campaignId)
    .forUpdate()
  const message = await requireRow(messages, messageId, 'There is no such message in this campaign')
  if (message.status !== 'failed') {
    throw refuse('conflict', `The message is ${message.status}: only a failed one can be sent again`)
  }
  if (message.attempts >= maxAttempts) {
    throw refuse('conflict', `The message was tried ${maxAttempts} times already, which is the most`)
  }
  if (campaign.status === 'cancelled')
    throw refuse('conflict', 'The campaign was cancelled: nothing of it leaves')
  if ((await optOuts.findOptedOut(ctx, [message.phone_key])).size > 0) {
    throw refuse('conflict', `${message.phone} is opted out: campaigns do not write to it`)
  }
  await requireSendContext(ctx, campaign.content, { hasBegun: true })
  const reservationId = await metering.reserve(ctx, 1, 'messaging-campaign')
  const rows = await outbox.lockMessages(ctx, campaignMessages, [messageId])
  const moves = rows.map((before) => ({
    before,
    after: {
      ...before,
      status: 'pending',
      attempt: before.attempt + 1,
      reservationId,
      code: null,
      reason: null,
      failedAt: null,
      sentAt: null,
      providerMessageId: null,
    },
  }))
  await outbox.applyTransitions(ctx, campaignMessages, moves)
}

export interface RetryWork {
  campaignId: string
  messageId: string
  /** Whether a rate slot of the number is already reserved for the message. */
  hasPlace: boolean
  /** Since when the provider has been unavailable, in milliseconds since 1970; null if it is available. */
  troubleSince: number | null
}
const requeue = (ctx: Context, work: RetryWork, at: Date) => ctx.queue(campaignMessageSend, work, { at })

const giveUpAfterMs = 30 * minuteMs
const retryDelayMs = minuteMs

/** Sends one message as its own batch, even if the campaign is not sending, but not if it is cancelled or deleted. */
export async function sendMessage(ctx: Context, work: RetryWork, signal: AbortSignal): Promise<void> {
  const { campaignId, messageId } = work
  const campaign = await readRunning(ctx, campaignId)
  if (!campaign || isOver(campaign)) return
  const sendContext = (await mayUse(ctx, 'campaigns')) ? await findSendContext(ctx, campaign.content) : null
  if (!sendContext)
    return giveUp(ctx, campaignId, messageId, 'The subscription or the plan does not allow campaigns')
  if (isUnmet(sendContext)) return giveUp(ctx, campaignId, messageId, sendContext.message)
  const { send_window: window } = campaign
  if (window && !isOpen(window, ctx.store.timezone, ctx.now())) {
    // `troubleSince: null`: a provider that is unavailable now gets the full 30 minutes again once the window opens.
    const opening = findNextOpening(window, ctx.store.timezone, ctx.now())
    await requeue(ctx, { ...work, hasPlace: false, troubleSince: null }, opening)
    return
  }
  if (!work.hasPlace) {
    const slotAt = await sending.reserveRateSlots(ctx, sendContext.connection, 1, outbox.campaignRateShare)
    if (!(await waitUntil(ctx.clock, slotAt, signal))) {
      await requeue(ctx, { ...work, hasPlace: true }, slotAt)
      return
    }
  }
  const isIdempotent = await sending.isIdempotent(ctx)
  const claimed = async (which: 'pending' | 'dead') => {
    const claim = await claimMessages(ctx, campaignId, { which, isIdempotent, limit: 1, messageId })
    return claim?.messages.length ? { which, claim } : null
  }
  const found = (await claimed('pending')) ?? (isIdempotent ? await claimed('dead') : null)
  if (!found) return waitForClaim(ctx, work, isIdempotent)
  const { results, stoppedBy, error } = await deliverBatch(ctx, {
    campaign,
    sendContext,
    claim: found.claim,
    isIdempotent,
    isSecondCall: found.which === 'dead',
    canSendWhile: (status) => status !== 'cancelled' && status !== 'deleted',
  })
  await recordResults(ctx, found.claim.id, results)
  if (error) throw error
  if (stoppedBy) await handleStop(ctx, work, stoppedBy)
}

/**
 * Checks again later, because another worker has claimed the message. If that worker has died, the claim is dead by
 * then.
 */
async function waitForClaim(ctx: Context, work: RetryWork, isIdempotent: boolean): Promise<void> {
  if (!isIdempotent) await resolveDeadClaims(ctx, work.campaignId)
  const message = await ctx.db
    .selectFrom('campaign_messages')
    .select(['status', 'claimed_at'])
    .where('id', '=', work.messageId)
    .executeTakeFirst()
  if (message?.status !== 'sending' && message?.status !== 'pending') return
  const deadAt = (message.claimed_at?.getTime() ?? 0) + outbox.deadAfterMs
  await requeue(
    ctx,
    { ...work, hasPlace: false },
    new Date(Math.max(deadAt, ctx.clock.ms() + retryDelayMs / 4)),
  )
}

const finalReasons = {
  disconnected: 'No messaging connection can send: connect or select one first',
  'number-limit': "The number's daily limit is reached: try again when it is free",
} as const

async function handleStop(ctx: Context, work: RetryWork, stoppedBy: outbox.RequeueReason): Promise<void> {
  const now = ctx.clock.ms()
  const { campaignId, messageId } = work
  if (stoppedBy.reason === 'throttled') {
    return void (await requeue(ctx, { ...work, hasPlace: false }, new Date(now + stoppedBy.afterMs)))
  }
  if (stoppedBy.reason !== 'provider-unavailable') {
    return giveUp(ctx, campaignId, messageId, finalReasons[stoppedBy.reason])
  }
  const troubleSince = work.troubleSince ?? now
  if (now - troubleSince >= giveUpAfterMs) {
    return giveUp(ctx, campaignId, messageId, 'The messaging provider took nothing for 30 minutes')
  }
  await requeue(ctx, { ...work, hasPlace: false, troubleSince }, new Date(now + retryDelayMs))
}

/** Fails the message again if it is still pending, and releases its quota unit. */
export async function giveUp(
  ctx: Context,
  campaignId: string,
  messageId: string,
  reason: string,
): Promise<void> {
  const options = { which: 'pending', isIdempotent: false, limit: 1, messageId } as const
  const claim = await claimMessages(ctx, campaignId, options)
  if (!claim) return
  const outcome = { kind: 'failed', code: 'provider-error', reason } as const
  await recordResults(
    ctx,
    claim.id,
    claim.messages.map(({ id }): MessageResult => ({ id, outcome })),
  )
}
