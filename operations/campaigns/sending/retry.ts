/** One failed message, sent again. */

import { optOuts, outbox, sending } from '#operations/messaging/door'
import { mayUse, metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { oneRow } from '#runtime/database/rows'
import { minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { clockReaches } from '#runtime/pause'
import { campaignMessageSend } from '../handles.ts'
import { lockCampaign } from '../rows.ts'
import { claimMessages, readRunning } from './claims.ts'
import { deliverBatch } from './deliver.ts'
import { campaignMessages } from './lane.ts'
import { findMeans, isProblem, requireMeans } from './readiness.ts'
import { type Result, recordResults } from './record.ts'
import { isOver, settleDeadClaims } from './recovery.ts'
import { isOpen, nextOpening } from './times.ts'

const attemptsAtMost = 5

/** `failed` to `pending`, under a new key, with a unit of its own. Refuses what cannot be sent again. */
export async function retryMessage(ctx: Context, campaignId: string, messageId: string): Promise<void> {
  const campaign = await lockCampaign(ctx, campaignId)
  const messages = ctx.db
    .selectFrom('campaign_messages')
    .select(['id', 'status', 'attempts', 'phone', 'phone_key'])
    .where('campaign_id', '=', campaignId)
    .forUpdate()
  const message = await oneRow(messages, messageId, 'There is no such message in this campaign')
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
  const rows = await outbox.lock(ctx, campaignMessages, [messageId])
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
  await outbox.move(ctx, campaignMessages, moves)
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

const giveUpAfterMs = 30 * minuteMs
const againAfterMs = minuteMs

/** Sends that one message as a batch of its own, in any state of the campaign but cancelled. */
export async function sendMessage(ctx: Context, work: RetryWork, signal: AbortSignal): Promise<void> {
  const { campaignId, messageId } = work
  const campaign = await readRunning(ctx, campaignId)
  if (!campaign || isOver(campaign)) return
  const means = (await mayUse(ctx, 'campaigns')) ? await findMeans(ctx, campaign.content) : null
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
    const turn = await sending.takeTurn(ctx, means.connection, 1, outbox.campaignShare)
    if (!(await clockReaches(ctx.clock, turn, signal))) {
      await queueAgain(ctx, { ...work, hasPlace: true }, turn)
      return
    }
  }
  const isIdempotent = await sending.isIdempotent(ctx)
  const claimed = async (which: 'pending' | 'dead') => {
    const claim = await claimMessages(ctx, campaignId, { which, isIdempotent, atMost: 1, messageId })
    return claim?.messages.length ? { which, claim } : null
  }
  const found = (await claimed('pending')) ?? (isIdempotent ? await claimed('dead') : null)
  if (!found) return waitForClaim(ctx, work, isIdempotent)
  const { results, trouble, error } = await deliverBatch(ctx, {
    campaign,
    means,
    claim: found.claim,
    isIdempotent,
    isSecondCall: found.which === 'dead',
    leavesWhile: (status) => status !== 'cancelled' && status !== 'deleted',
  })
  await recordResults(ctx, found.claim.id, results)
  if (error) throw error
  if (trouble) await handleTrouble(ctx, work, trouble)
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
  const deadAt = (message.claimed_at?.getTime() ?? 0) + outbox.deadAfterMs
  await queueAgain(
    ctx,
    { ...work, hasPlace: false },
    new Date(Math.max(deadAt, ctx.clock.ms() + againAfterMs / 4)),
  )
}

const hopeless = {
  disconnected: 'No messaging connection can send: connect or select one first',
  'number-limit': "The number's daily limit is reached: try again when it is free",
} as const

async function handleTrouble(ctx: Context, work: RetryWork, trouble: outbox.Trouble): Promise<void> {
  const now = ctx.clock.ms()
  const { campaignId, messageId } = work
  if (trouble.reason === 'throttled') {
    return void (await queueAgain(ctx, { ...work, hasPlace: false }, new Date(now + trouble.afterMs)))
  }
  if (trouble.reason !== 'provider-unavailable') {
    return giveUp(ctx, campaignId, messageId, hopeless[trouble.reason])
  }
  const troubleSince = work.troubleSince ?? now
  if (now - troubleSince >= giveUpAfterMs) {
    return giveUp(ctx, campaignId, messageId, 'The messaging provider took nothing for 30 minutes')
  }
  await queueAgain(ctx, { ...work, hasPlace: false, troubleSince }, new Date(now + againAfterMs))
}

/** The message is `failed` again, where it waits still; its unit goes back. */
export async function giveUp(
  ctx: Context,
  campaignId: string,
  messageId: string,
  reason: string,
): Promise<void> {
  const wanted = { which: 'pending', isIdempotent: false, atMost: 1, messageId } as const
  const claim = await claimMessages(ctx, campaignId, wanted)
  if (!claim) return
  const fate = { is: 'failed', code: 'provider-error', reason } as const
  await recordResults(
    ctx,
    claim.id,
    claim.messages.map(({ id }): Result => ({ id, fate })),
  )
}
