/** Hands a notice to the shopper: claimed first, then handed over with no transaction open, then written down. */

import { check, sending } from '#operations/messaging/door'
import { metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refusal } from '#runtime/errors'
import { Refused, Unavailable } from '#runtime/ports/errors'
import { mailRefusal } from '#runtime/ports/mail/port'
import type { NoticeContent, NoticeMail, NoticeMessage } from '../settings/notice-texts.ts'
import type { NoticeFailure } from './codes.ts'
import { contentOf } from './content.ts'
import { objectionTo } from './leaving.ts'
import { type EndedNotice, holdRequest, recordFailed, recordSent } from './results.ts'

/** A notice that nobody has reported about for so long belongs to a dead worker. */
const heldMs = 60_000
/** Without a word of it for so long, nobody will know whether a message left. */
const lostAfterMs = 10 * 60_000
const minuteMs = 60_000
/** After each try that certainly failed. */
const retriesAfterMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, 60 * minuteMs]
/** Of the number's rate, as other one-to-one messages. */
const share = 0.2

interface Leaving extends EndedNotice {
  content: NoticeContent
  tries: number
  /** Of an earlier call of which nobody knows how it ended; null: there was none. */
  calledBefore: Date | null
}

/** When to look at it again; null: it has ended. */
type Next = Date | null

const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

/** Tells the shopper of one notice; what has ended, or another has in hand, is left alone. */
export async function notifyShopper(ctx: Context, noticeId: string): Promise<Next> {
  const taken = await take(ctx, noticeId)
  if (taken === null || taken instanceof Date) return taken
  const { content } = taken
  return content.channel === 'email' ? deliverMail(ctx, taken, content) : deliverMessage(ctx, taken, content)
}

/** Claims it, with the text it will always have. */
async function take(ctx: Context, id: string): Promise<Leaving | Next> {
  return ctx.transaction(async (tx): Promise<Leaving | Next> => {
    const known = await tx.db
      .selectFrom('exchange_notices')
      .select('request_id')
      .where('id', '=', id)
      .executeTakeFirst()
    if (!known) return null
    await holdRequest(tx, known.request_id)
    const now = tx.now()
    const row = await tx.db
      .selectFrom('exchange_notices')
      .selectAll()
      .where('id', '=', id)
      .where('state', 'in', ['waiting', 'sending'])
      .forUpdate()
      .executeTakeFirst()
    if (!row) return null
    if (row.next_try_at > now) return row.next_try_at
    const notice = row as unknown as EndedNotice
    // What may have left is asked about under its key: nothing leaves twice.
    const objection = row.called_at === null ? await objectionTo(tx, { ...row, ...notice }) : null
    if (objection !== null) {
      await recordFailed(tx, id, objection)
      return null
    }
    const ready = notice.content
      ? { content: notice.content, reservation_id: notice.reservation_id }
      : await prepare(tx, notice)
    if (ready === null) return null
    if (typeof ready === 'string') {
      await recordFailed(tx, id, ready)
      return null
    }
    await tx.db
      .updateTable('exchange_notices')
      .set({
        state: 'sending',
        content: JSON.stringify(ready.content),
        reservation_id: ready.reservation_id,
        tries: row.tries + 1,
        // Written down before the call: if this process dies in it, the notice may have left.
        called_at: row.called_at ?? now,
        next_try_at: later(now, heldMs),
        updated_at: now,
      })
      .where('id', '=', id)
      .execute()
    return { ...notice, ...ready, tries: row.tries + 1, calledBefore: row.called_at }
  })
}

/** Its text and, for a message, its unit of the quota; a code where it cannot leave, null where its request is gone. */
async function prepare(
  tx: Context,
  notice: EndedNotice,
): Promise<{ content: NoticeContent; reservation_id: string | null } | NoticeFailure | null> {
  const request = await tx.db
    .selectFrom('exchange_requests')
    .selectAll()
    .where('id', '=', notice.request_id)
    .executeTakeFirst()
  if (!request) {
    await tx.db.deleteFrom('exchange_notices').where('id', '=', notice.id).execute()
    return null
  }
  const content = await contentOf(tx, request, notice)
  if (typeof content === 'string' || content.channel === 'email') {
    return typeof content === 'string' ? content : { content, reservation_id: null }
  }
  try {
    return { content, reservation_id: await metering.reserve(tx, 1, 'exchange') }
  } catch (error) {
    if (error instanceof Refusal) return 'quota-exceeded'
    throw error
  }
}

/** A notice leaves once, so its key has no other attempt. */
const keyOf = ({ id }: Leaving): string => `ex_${id}_1`

/** A second send under the same key is harmless. */
async function deliverMail(
  ctx: Context,
  notice: Leaving,
  { subject, html, text }: NoticeMail,
): Promise<Next> {
  const at = ctx.now()
  try {
    const { messageId } = await ctx.adapters.mail.send({
      to: notice.recipient,
      subject,
      html,
      text,
      idempotencyKey: keyOf(notice),
    })
    await recordSent(ctx, notice.id, { providerMessageId: messageId, at })
    return null
  } catch (error) {
    if (error instanceof Refused) return fail(ctx, notice, mailRefusal(error))
    if (!(error instanceof Unavailable)) throw error
    return tryAgain(ctx, notice, 'provider-unavailable')
  }
}

async function fail(ctx: Context, notice: Leaving, code: NoticeFailure): Promise<Next> {
  await recordFailed(ctx, notice.id, code)
  return null
}

/** After a try that certainly failed, or whose repetition is harmless. */
async function tryAgain(ctx: Context, notice: Leaving, code: NoticeFailure): Promise<Next> {
  const afterMs = retriesAfterMs[notice.tries - 1]
  if (afterMs === undefined) return fail(ctx, notice, code)
  return putOff(ctx, notice, later(ctx.now(), afterMs))
}

/** `isCounted` false: this time was no try. */
async function putOff(ctx: Context, notice: Leaving, at: Date, isCounted = true): Promise<Next> {
  await ctx.db
    .updateTable('exchange_notices')
    .set({
      next_try_at: at,
      tries: notice.tries - (isCounted ? 0 : 1),
      called_at: notice.calledBefore,
      updated_at: ctx.now(),
    })
    .where('id', '=', notice.id)
    .where('state', '=', 'sending')
    .execute()
  return at
}

async function deliverMessage(ctx: Context, notice: Leaving, { content }: NoticeMessage): Promise<Next> {
  const { recipient: phone, calledBefore } = notice
  if (calledBefore === null) {
    const objection = await check(ctx, { phone, content })
    if (objection) return fail(ctx, notice, objection.code)
  } else if (!(await sending.isIdempotent(ctx))) {
    // Handed over before, to a provider that knows no keys: a callback may still settle it.
    const lostAt = later(calledBefore, lostAfterMs)
    return lostAt <= ctx.now() ? fail(ctx, notice, 'unknown-outcome') : putOff(ctx, notice, lostAt, false)
  }
  const connection = await sending.connectionFor(ctx)
  if (connection) {
    const turn = await sending.takeTurn(ctx, connection, 1, share)
    if (!(await sending.reaches(ctx, turn))) return putOff(ctx, notice, turn, false)
  }
  const at = ctx.now()
  const outcome = await sending.deliver(ctx, { phone, content }, keyOf(notice))
  switch (outcome.outcome) {
    case 'accepted':
      await recordSent(ctx, notice.id, { providerMessageId: outcome.providerMessageId, at })
      return null
    case 'refused':
      return fail(ctx, notice, outcome.code)
    case 'disconnected':
      if (calledBefore === null) return fail(ctx, notice, 'not-connected')
      return keepHeld(ctx, notice, at)
    case 'retry':
      if (outcome.reason === 'number-limit') return fail(ctx, notice, 'number-limit')
      if (outcome.reason === 'throttled') {
        const until = later(ctx.now(), outcome.afterMs)
        if (connection) await sending.throttled(ctx, connection, until)
        return putOff(ctx, notice, until, false)
      }
      return tryAgain(ctx, notice, 'provider-unavailable')
    case 'unknown':
      return keepHeld(ctx, notice, at)
  }
}

/** It may have left: asked about again under its key, unless a callback proves it before; given up after ten minutes. */
async function keepHeld(ctx: Context, notice: Leaving, at: Date): Promise<Next> {
  const since = notice.calledBefore ?? at
  if (ctx.now() >= later(since, lostAfterMs)) return fail(ctx, notice, 'unknown-outcome')
  return putOff(ctx, { ...notice, calledBefore: since }, later(ctx.now(), heldMs), false)
}
