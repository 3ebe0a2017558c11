/** What became of a request's message: message, requests, quota and ledger in one transaction. */

import { sql } from 'kysely'
import { optOuts, sending } from '#operations/messaging/door'
import { metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { asksForReviews, findSettings } from '../settings/settings.ts'
import type { MessageContent } from './claims.ts'
import type { FailureCode, SkipReason } from './codes.ts'
import { daysLater } from './times.ts'

export interface LeavingMessage {
  id: string
  number: number
  kind: string
  channel: string
  email: string | null
  phone: string | null
  content: MessageContent
  reservation_id: string | null
  calls: number
  /** Whether a call was made of which nobody knows how it ended. */
  may_have_left: boolean
}

const columns = ['id', 'kind', 'channel', 'email', 'phone', 'content', 'reservation_id'] as const
type Ended = Pick<LeavingMessage, (typeof columns)[number]>

/** Ends a message that is on its way; null where another was faster. */
async function end(
  tx: Context,
  id: string,
  values: { state: 'sent' | 'failed'; sent_at?: Date; provider_message_id?: string; failure?: string },
): Promise<Ended | null> {
  const row = await tx.db
    .selectFrom('review_messages')
    .select(columns)
    .where('id', '=', id)
    .where('state', '=', 'sending')
    .forUpdate()
    .executeTakeFirst()
  if (!row) return null
  await tx.db
    .updateTable('review_messages')
    // The text had its link in it, whose token is kept nowhere else.
    .set({ ...values, content: null, updated_at: tx.now() })
    .where('id', '=', id)
    .execute()
  return { ...row, content: row.content as MessageContent }
}

/** It left: its requests are `sent`, and the next reminder has its time. */
export async function recordSent(
  ctx: Context,
  id: string,
  left: { providerMessageId: string | null; at: Date },
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const { providerMessageId, at } = left
    const message = await end(tx, id, {
      state: 'sent',
      sent_at: at,
      ...(providerMessageId === null ? {} : { provider_message_id: providerMessageId }),
    })
    if (!message) return
    await count(tx, message, { providerMessageId, sentAt: at, isKnown: true })
    const { settings } = await findSettings(tx)
    const { reminder, request } = settings
    const remindAt =
      asksForReviews(settings) && reminder.isEnabled
        ? daysLater(at, reminder.delayDays, request.sendTime, tx.store.timezone)
        : null
    const isReminder = message.kind === 'reminder'
    const sentReminders = sql`reminders_sent + ${sql.lit(isReminder ? 1 : 0)}`
    await tx.db
      .updateTable('review_dispatches')
      .set({
        // Whoever reviewed meanwhile is not reminded.
        status: sql<string>`case when review_id is null then 'sent' else 'reviewed' end`,
        reason: null,
        sent_at: sql<Date>`coalesce(sent_at, ${at}::timestamptz)`,
        last_sent_at: at,
        reminders_sent: sql<number>`${sentReminders}`,
        next_reminder_at: sql<Date>`case when review_id is null and ${sentReminders} < ${reminder.maxReminders}::int
          then ${remindAt}::timestamptz end`,
        updated_at: tx.now(),
      })
      .where('message_id', '=', id)
      .where('status', '=', isReminder ? 'sent' : 'sending')
      .execute()
  })
}

/** In the ledger once; messages count towards the quota, emails do not. */
async function count(
  tx: Context,
  message: Ended,
  left: { providerMessageId: string | null; sentAt: Date; isKnown: boolean },
): Promise<void> {
  const { id: messageId, email, phone } = message
  if (message.channel === 'email') {
    await metering.record(tx, [
      {
        messageId,
        channel: 'email',
        source: 'review-request',
        sourceId: messageId,
        phone: null,
        email,
        providerMessageId: left.providerMessageId,
        status: 'sent',
        sentAt: left.sentAt,
      },
    ])
    return
  }
  const { content } = message
  const isTemplate = content.channel === 'messaging' && content.content.kind === 'template'
  await sending.accepted(tx, 'review-request', message.reservation_id!, [
    {
      messageId,
      sourceId: messageId,
      sourceName: null,
      phone: phone!,
      ...left,
      text: content.text,
      officialapiTemplateId:
        isTemplate && content.content.kind === 'template' ? content.content.templateId : null,
    },
  ])
}

/** It was claimed, and nothing calls for it any more. */
export const recordSkipped = (ctx: Context, id: string, reason: SkipReason): Promise<void> =>
  recordFailed(ctx, id, reason, 'skipped')

/** `code`: `unknown-outcome` where it may have left, which counts; otherwise its unit goes back. */
export async function recordFailed(
  ctx: Context,
  id: string,
  code: FailureCode | SkipReason,
  to: 'failed' | 'skipped' = 'failed',
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const message = await end(tx, id, { state: 'failed', failure: code })
    if (!message) return
    if (message.channel === 'messaging') {
      if (code === 'unknown-outcome') {
        await count(tx, message, { providerMessageId: null, sentAt: tx.now(), isKnown: false })
      } else await metering.release(tx, message.reservation_id!, 1)
      if (code === 'recipient-stopped') await optOuts.add(tx, message.phone!, 'provider')
    }
    // A reminder that failed leaves the request as it was sent.
    if (message.kind === 'reminder') return
    await fail(tx, id, 'sending', code, to)
  })
}

async function fail(
  tx: Context,
  messageId: string,
  from: 'sending' | 'sent',
  reason: FailureCode | SkipReason,
  status: 'failed' | 'skipped' = 'failed',
): Promise<void> {
  await tx.db
    .updateTable('review_dispatches')
    .set({ status, reason, next_reminder_at: null, updated_at: tx.now() })
    .where('message_id', '=', messageId)
    .where('status', '=', from)
    .execute()
}

/** What the provider calls back about: a lost answer is settled, a failed delivery fails the request. */
export async function applyStatuses(ctx: Context, statuses: sending.DeliveryStatus[]): Promise<void> {
  for (const { messageId, status, at, providerMessageId, failureCode } of statuses) {
    await recordSent(ctx, messageId, { providerMessageId, at })
    if (status !== 'failed') continue
    const failure = failureCode ?? 'undelivered'
    const failed = await ctx.db
      .updateTable('review_messages')
      .set({ state: 'failed', failure, updated_at: ctx.now() })
      .where('id', '=', messageId)
      .where('state', '=', 'sent')
      .returning('kind')
      .executeTakeFirst()
    if (failed?.kind === 'first') await fail(ctx, messageId, 'sent', failure)
  }
}
