/** Hands claimed messages over, one by one, with no transaction open meanwhile. */

import { sql } from 'kysely'
import { check, sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { Refused, Unavailable } from '#runtime/ports/errors'
import { mailRefusal } from '#runtime/ports/mail/port'
import { type MessageContent, objectionToMessage } from './claims.ts'
import type { FailureCode } from './codes.ts'
import { type LeavingMessage, recordFailed, recordSent, recordSkipped } from './results.ts'

/** A message that nobody has reported about for so long belongs to a dead worker. */
const heldMs = 10 * 60_000
const minuteMs = 60_000
/** After each try that certainly failed. */
const retriesAfterMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, 60 * minuteMs]
/** Of the number's rate, as other one-to-one messages. */
const share = 0.2

/** Messages of the store that may be handed over now, oldest first. */
export async function waitingMessages(ctx: Context, atMost: number): Promise<string[]> {
  const rows = await ctx.db
    .selectFrom('review_messages')
    .select('id')
    .where('state', '=', sql.lit('sending'))
    .where('next_try_at', '<=', ctx.now())
    .orderBy('next_try_at')
    .orderBy('id')
    .limit(atMost)
    .execute()
  return rows.map((row) => row.id)
}

/** Takes the message for ten minutes; null where another worker has it, or it has ended. */
async function take(ctx: Context, id: string): Promise<LeavingMessage | null> {
  const now = ctx.now()
  return ctx.transaction(async (tx) => {
    const row = await tx.db
      .selectFrom('review_messages')
      .select([
        'id',
        'number',
        'kind',
        'channel',
        'email',
        'phone',
        'content',
        'reservation_id',
        'calls',
        'called_at',
      ])
      .where('id', '=', id)
      .where('state', '=', 'sending')
      .where('next_try_at', '<=', now)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
    if (!row) return null
    await tx.db
      .updateTable('review_messages')
      // Written down before the call: if this process dies in it, the message may have left.
      .set({ calls: row.calls + 1, called_at: now, next_try_at: later(now, heldMs), updated_at: now })
      .where('id', '=', id)
      .execute()
    const { called_at: calledAt, ...message } = row
    return {
      ...message,
      content: row.content as MessageContent,
      calls: row.calls + 1,
      may_have_left: calledAt !== null,
    }
  })
}

const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

/**
 * Hands one message over; what another has, or has ended, is left alone. `hasWaited`: it was claimed some time ago, so
 * that all is judged again.
 */
export async function deliverMessage(ctx: Context, id: string, hasWaited = false): Promise<void> {
  const message = await take(ctx, id)
  if (!message) return
  if (hasWaited && !message.may_have_left) {
    const objection = await objectionToMessage(ctx, id)
    if (objection) return recordSkipped(ctx, id, objection)
  }
  if (message.content.channel === 'email') await deliverMail(ctx, message, message.content)
  else await deliverMessaging(ctx, message, message.content)
}

const keyOf = ({ id, number }: LeavingMessage): string => `rv_${id}_${number}`

/** A second send under the same key is harmless. */
async function deliverMail(
  ctx: Context,
  message: LeavingMessage,
  { subject, html, text, replyTo, headers }: Extract<MessageContent, { channel: 'email' }>,
): Promise<void> {
  const at = ctx.now()
  try {
    const { messageId } = await ctx.adapters.mail.send({
      to: message.email!,
      subject,
      html,
      text,
      headers,
      ...(replyTo ? { replyTo } : {}),
      idempotencyKey: keyOf(message),
    })
    await recordSent(ctx, message.id, { providerMessageId: messageId, at })
  } catch (error) {
    if (error instanceof Refused) return recordFailed(ctx, message.id, mailRefusal(error))
    if (!(error instanceof Unavailable)) throw error
    await tryAgain(ctx, message, 'provider-unavailable')
  }
}

/** After a try that certainly failed, or whose repetition is harmless. */
async function tryAgain(ctx: Context, message: LeavingMessage, code: FailureCode): Promise<void> {
  const afterMs = retriesAfterMs[message.calls - 1]
  if (afterMs === undefined) return recordFailed(ctx, message.id, code)
  await putOff(ctx, message, later(ctx.now(), afterMs))
}

/** `isCounted` false: this time was no try. */
async function putOff(ctx: Context, message: LeavingMessage, at: Date, isCounted = true): Promise<void> {
  await ctx.db
    .updateTable('review_messages')
    .set({
      next_try_at: at,
      calls: message.calls - (isCounted ? 0 : 1),
      ...(message.may_have_left ? {} : { called_at: null }),
      updated_at: ctx.now(),
    })
    .where('id', '=', message.id)
    .where('state', '=', 'sending')
    .execute()
}

async function deliverMessaging(
  ctx: Context,
  message: LeavingMessage,
  { content }: Extract<MessageContent, { channel: 'messaging' }>,
): Promise<void> {
  const phone = message.phone!
  if (message.may_have_left) {
    // Handed over before: asked again under its key where the provider knows it, else nobody will know.
    if (!(await sending.isIdempotent(ctx))) return recordFailed(ctx, message.id, 'unknown-outcome')
  } else {
    const objection = await check(ctx, { phone, content })
    if (objection) return recordFailed(ctx, message.id, objection.code)
  }
  const connection = await sending.connectionFor(ctx)
  if (connection) {
    const turn = await sending.takeTurn(ctx, connection, 1, share)
    if (!(await sending.reaches(ctx, turn))) return putOff(ctx, message, turn, false)
  }
  const at = ctx.now()
  const outcome = await sending.deliver(ctx, { phone, content }, keyOf(message))
  switch (outcome.outcome) {
    case 'accepted':
      return recordSent(ctx, message.id, { providerMessageId: outcome.providerMessageId, at })
    case 'refused':
      return recordFailed(ctx, message.id, outcome.code)
    case 'disconnected':
      if (message.may_have_left) return putOff(ctx, message, later(at, heldMs))
      return recordFailed(ctx, message.id, 'not-connected')
    case 'retry':
      if (outcome.reason === 'number-limit') return recordFailed(ctx, message.id, 'number-limit')
      if (outcome.reason === 'throttled') {
        const until = later(ctx.now(), outcome.afterMs)
        if (connection) await sending.throttled(ctx, connection, until)
        return putOff(ctx, message, until, false)
      }
      return tryAgain(ctx, message, 'provider-unavailable')
    case 'unknown':
      // Held as by a dead worker: it may be asked about under its key, or a callback proves that it left.
      if (message.calls > retriesAfterMs.length) return recordFailed(ctx, message.id, 'unknown-outcome')
      return putOff(ctx, { ...message, may_have_left: true }, later(at, heldMs))
  }
}
