/** One conversation's messages leave one at a time, oldest first (rule 5). */

import { errorOf, routeOfType, type SingleError, sending } from '#operations/messaging/door'
import { entitlementOf } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { inboxSend } from '../handles.ts'
import { contentOf } from '../messages/compose.ts'
import { isWindowOpen, objectionTo } from '../messages/send.ts'
import { type ClaimedMessage, callsAtMost, claimNext, holdUntil, lostAfterMs, putBack } from './claims.ts'
import { recordFailed, recordSent } from './results.ts'

/** Of the number's rate, together with all else but campaigns. */
const share = 0.2
const retryAfterMs = [5_000, 30_000, 120_000]
/** Messages of one run: then others have their turn. */
const atOnce = 20

export async function sendQueued(ctx: Context, conversationId: string, signal: AbortSignal): Promise<void> {
  for (let sent = 0; sent < atOnce; sent += 1) {
    if (signal.aborted) break
    const route = await routeOfType(ctx, 'official')
    const next = await claimNext(ctx, conversationId, route?.port.capabilities.idempotentSend ?? false)
    if (next.is === 'none') return
    if (next.is === 'later') {
      await ctx.queue(inboxSend, { conversationId }, { at: next.at })
      return
    }
    if (next.is === 'lost') await recordFailed(ctx, next.message, unknownOutcome)
    else await sendOne(ctx, next.message)
  }
  await ctx.queue(inboxSend, { conversationId }, { at: ctx.now() })
}

const unknownOutcome: SingleError = {
  code: 'unknown-outcome',
  message: 'It is not known whether the message left: the provider never said what became of it',
}

/** What it ends in is written down: the next look at the conversation goes on from there. */
async function sendOne(ctx: Context, message: ClaimedMessage): Promise<void> {
  const connection = await sending.connectionFor(ctx, 'official')
  if (connection) {
    const turn = await sending.takeTurn(ctx, connection, 1, share)
    if (!(await sending.reaches(ctx, turn))) {
      return message.mayHaveLeft ? holdUntil(ctx, message, turn) : putBack(ctx, message, turn, false)
    }
  }
  const objection = await objectionNow(ctx, message)
  if (objection) return recordFailed(ctx, message, objection)
  const { phone, replyTo } = message
  const content = await contentOf(ctx, message)
  const at = ctx.now()
  const outcome = await sending.deliver(
    ctx,
    { phone, content, via: 'official', ...(replyTo ? { replyTo } : {}) },
    `in_${message.id}_1`,
  )
  const now = ctx.clock.ms()
  // What may have left is not put back: it is asked about under its key, or nobody will know.
  if (message.mayHaveLeft && (outcome.outcome === 'retry' || outcome.outcome === 'disconnected')) {
    return holdUntil(ctx, message, new Date(now + retryAfterMs.at(-1)!))
  }
  const again = new Date(now + (retryAfterMs[message.attempts - 1] ?? lostAfterMs))
  switch (outcome.outcome) {
    case 'accepted':
      return recordSent(ctx, message, outcome.providerMessageId, at)
    case 'refused':
      return recordFailed(ctx, message, outcome)
    case 'disconnected':
      return recordFailed(ctx, message, notConnected)
    case 'unknown':
      return holdUntil(ctx, message, again)
    case 'retry':
      if (outcome.reason === 'throttled') {
        const until = new Date(now + outcome.afterMs)
        if (connection) await sending.throttled(ctx, connection, until)
        return putBack(ctx, message, until, false)
      }
      if (outcome.reason === 'number-limit') return recordFailed(ctx, message, numberLimit)
      if (message.attempts < callsAtMost) return putBack(ctx, message, again)
      return recordFailed(ctx, message, {
        code: 'provider-error',
        message: 'The messaging provider took nothing, however often it was asked',
      })
  }
}

const notConnected: SingleError = { code: 'disconnected', message: 'The official number was disconnected' }
const numberLimit: SingleError = {
  code: 'number-limit',
  message: 'The number has written to as many people in 24 hours as it may: try again later',
}

async function objectionNow(ctx: Context, message: ClaimedMessage): Promise<SingleError | null> {
  // Handed over before under its key: asking again tells what became of it, and nothing leaves twice.
  if (message.mayHaveLeft) return null
  if (!(await entitlementOf(ctx)).canWrite) {
    return { code: 'subscription-inactive', message: 'The subscription does not allow messages any more' }
  }
  if (message.type !== 'template' && !isWindowOpen(message.lastInboundAt, ctx.now())) {
    return {
      code: 'window-closed',
      message: 'The window closed before the message could leave: send an approved template',
    }
  }
  const objection = await objectionTo(ctx, message.phone, message)
  if (!objection) return null
  return objection.code === 'not-connected' ? notConnected : errorOf(objection)
}
