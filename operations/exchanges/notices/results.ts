/** What became of a notice: its row, the quota, the ledger and the request's history in one transaction. */

import { optOuts, sending } from '#operations/messaging/door'
import { metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { byTheSystem, note } from '../requests/history.ts'
import type { NoticeChannel } from '../requests/tell.ts'
import type { NoticeContent } from '../settings/notice-texts.ts'
import type { ExchangeEvent } from '../settings/schema.ts'
import type { NoticeFailure } from './codes.ts'

const columns = ['id', 'request_id', 'event', 'channel', 'recipient', 'content', 'reservation_id'] as const
export interface EndedNotice {
  id: string
  request_id: string
  event: ExchangeEvent
  channel: NoticeChannel
  recipient: string
  content: NoticeContent | null
  reservation_id: string | null
}

interface End {
  state: 'sent' | 'failed'
  sent_at?: Date
  provider_message_id?: string
  failure?: string
}

/** Whether the request is still there; it stays to the end of the transaction. Before its notices: deleting goes that way. */
export async function holdRequest(tx: Context, requestId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('exchange_requests')
    .select('id')
    .where('id', '=', requestId)
    .forKeyShare()
    .executeTakeFirst()
  return row !== undefined
}

/** Ends a notice that is in one of these states; null where another was faster. */
async function end(
  tx: Context,
  id: string,
  from: readonly string[],
  values: End,
): Promise<{ notice: EndedNotice; isThere: boolean } | null> {
  const known = await tx.db
    .selectFrom('exchange_notices')
    .select('request_id')
    .where('id', '=', id)
    .executeTakeFirst()
  if (!known) return null
  const isThere = await holdRequest(tx, known.request_id)
  const row = await tx.db
    .selectFrom('exchange_notices')
    .select(columns)
    .where('id', '=', id)
    .where('state', 'in', from)
    .forUpdate()
    .executeTakeFirst()
  if (!row) return null
  if (isThere) {
    await tx.db
      .updateTable('exchange_notices')
      // The text had its link in it, whose token is kept nowhere else.
      .set({ ...values, content: null, updated_at: tx.now() })
      .where('id', '=', id)
      .execute()
  } else await tx.db.deleteFrom('exchange_notices').where('id', '=', id).execute()
  return { notice: row as EndedNotice, isThere }
}

/** It left. */
export async function recordSent(
  ctx: Context,
  id: string,
  { providerMessageId, at }: { providerMessageId: string | null; at: Date },
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const ended = await end(tx, id, ['sending'], {
      state: 'sent',
      sent_at: at,
      ...(providerMessageId === null ? {} : { provider_message_id: providerMessageId }),
    })
    if (!ended) return
    const { notice, isThere } = ended
    await count(tx, notice, { providerMessageId, sentAt: at, isKnown: true })
    if (isThere) await noteOf(tx, notice, null)
  })
}

/** `code`: `unknown-outcome` where it may have left, which counts; otherwise a message's unit goes back. */
export async function recordFailed(ctx: Context, id: string, code: NoticeFailure): Promise<void> {
  await ctx.transaction(async (tx) => {
    const ended = await end(tx, id, ['waiting', 'sending'], { state: 'failed', failure: code })
    if (!ended) return
    const { notice, isThere } = ended
    if (notice.reservation_id !== null) {
      if (code === 'unknown-outcome') {
        await count(tx, notice, { providerMessageId: null, sentAt: tx.now(), isKnown: false })
      } else await metering.release(tx, notice.reservation_id, 1)
    }
    if (code === 'recipient-stopped') await optOuts.add(tx, notice.recipient, 'provider')
    if (isThere) await noteOf(tx, notice, code)
  })
}

/** In the ledger once; messages count towards the quota, emails do not. */
async function count(
  tx: Context,
  { id: messageId, request_id: sourceId, channel, recipient, content, reservation_id }: EndedNotice,
  left: { providerMessageId: string | null; sentAt: Date; isKnown: boolean },
): Promise<void> {
  const { providerMessageId, sentAt } = left
  if (channel === 'email') {
    const row = { messageId, sourceId, phone: null, email: recipient, providerMessageId, sentAt }
    await metering.record(tx, [{ ...row, channel: 'email', source: 'exchange', status: 'sent' }])
    return
  }
  if (content?.channel !== 'messaging') throw new Error(`The notice ${messageId} left without a text`)
  await sending.accepted(tx, 'exchange', reservation_id!, [
    {
      messageId,
      sourceId,
      sourceName: null,
      phone: recipient,
      ...left,
      text: content.text,
      officialapiTemplateId: content.content.kind === 'template' ? content.content.templateId : null,
    },
  ])
}

const eventWords: Record<ExchangeEvent, string> = {
  requested: 'requested',
  approved: 'approved',
  addressChanged: 'address changed',
  received: 'received',
  completed: 'completed',
  rejected: 'rejected',
  expired: 'expired',
}

/** `failure`: null where it left. */
async function noteOf(
  tx: Context,
  { request_id: requestId, event, channel }: EndedNotice,
  failure: NoticeFailure | null,
): Promise<void> {
  const what = `${channel === 'email' ? 'Email' : 'Message'}: ${eventWords[event]}`
  await note(tx, requestId, {
    event: failure === null ? 'notified' : 'notification-failed',
    actor: byTheSystem,
    note: failure === null ? what : `${what} (${failure})`,
  })
}

/** What the provider calls back about: a lost answer is settled, a failed delivery is noted. */
export async function applyStatuses(ctx: Context, statuses: sending.DeliveryStatus[]): Promise<void> {
  for (const { messageId, status, at, providerMessageId, failureCode } of statuses) {
    await recordSent(ctx, messageId, { providerMessageId, at })
    if (status !== 'failed') continue
    const failure = failureCode ?? 'undelivered'
    await ctx.transaction(async (tx) => {
      const ended = await end(tx, messageId, ['sent'], { state: 'failed', failure })
      if (ended?.isThere) await noteOf(tx, ended.notice, failure)
    })
  }
}
