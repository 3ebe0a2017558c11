/**
 * Registers review requests and reminders with the outbox: checks preconditions at dispatch, and records the results on
 * the requests.
 */

import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { dayMs, minuteMs } from '#runtime/durations'
import { areRequestsOn, findSettings } from '../settings/settings.ts'
import { findMessageSkipReason } from './claims.ts'
import { buildContent } from './content.ts'
import type { Channel } from './eligibility.ts'
import { isSkip } from './skip-reasons.ts'
import { scheduleAfterDays } from './times.ts'

interface RequestMessage extends outbox.SingleState {
  kind: 'first' | 'reminder'
  channel: Channel
  content: outbox.StoredContent | null
  createdAt: Date
}

export const requestMessages = outbox.defineSingleSource<RequestMessage>()({
  kind: 'rv',
  messageSource: 'review-request',
  table: 'review_messages',
  columns: {
    attempt: ['number'],
    email: ['email'],
    status: ['state', 'text'],
    code: ['failure', 'text'],
    channel: ['channel'],
    content: ['content', 'jsonb'],
    tries: ['calls'],
    createdAt: ['created_at'],
    // The message's field `kind`. The `kind` above is the outbox's code for this source.
    kind: ['kind'],
  },
  inFlightStatuses: ['sending'],
  statusNames: { delivered: 'sent', read: 'sent' },
  // `content` is cleared with the claim, because its text contains the token of the link, of which only the hash is
  // stored.
  claimColumns: ['content'],
  retryDelaysMs: [minuteMs, 5 * minuteMs, 15 * minuteMs, 60 * minuteMs],
  maxWaitMs: dayMs,
  async checkPreconditions(tx, { id, tries, createdAt }) {
    // The message was claimed within the last minute, and the claim has checked its eligibility.
    if (tries === 0 && tx.now().getTime() - createdAt.getTime() < minuteMs) return null
    const code = await findMessageSkipReason(tx, id)
    return code && { code, reason: 'It is no longer needed' }
  },
  async prepare(tx, row) {
    const content = row.calledAt === null ? await buildContent(tx, row) : row.content
    if (!content) return { code: 'order-cancelled', reason: 'The requests of this message are gone' }
    return { row: { ...row, content }, outgoing: outbox.toOutgoing(content, row) }
  },
  describeSent: ({ id, content }) => ({ sourceId: id, sourceName: null, ...outbox.toInboxFields(content) }),
  async onTransitions(tx, moves) {
    for (const { before, after } of moves) {
      if (after.status === before.status) continue
      if (after.status === 'sent') await markRequestsSent(tx, after)
      // If a reminder fails, the request keeps the status `sent`.
      else if (after.kind === 'first') await markRequestsFailed(tx, after)
    }
  },
})

/** Marks the requests of a message as `sent` and schedules the next reminder. */
async function markRequestsSent(tx: Context, { id, kind, sentAt: at }: RequestMessage): Promise<void> {
  const { settings } = await findSettings(tx)
  const { reminder, request } = settings
  const remindAt =
    areRequestsOn(settings) && reminder.isEnabled
      ? scheduleAfterDays(at!, reminder.delayDays, request.sendTime, tx.store.timezone)
      : null
  const isReminder = kind === 'reminder'
  const sentReminders = sql`reminders_sent + ${sql.lit(isReminder ? 1 : 0)}`
  await tx.db
    .updateTable('review_dispatches')
    .set({
      // A customer who has reviewed the product meanwhile gets no reminder.
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
    // Also `failed`, because a message that was recorded as failed may turn out to be delivered.
    .where('status', 'in', isReminder ? ['sent'] : ['sending', 'failed'])
    .execute()
}

async function markRequestsFailed(tx: Context, { id, code }: RequestMessage): Promise<void> {
  await tx.db
    .updateTable('review_dispatches')
    .set({
      status: isSkip(code) ? 'skipped' : 'failed',
      reason: code,
      next_reminder_at: null,
      updated_at: tx.now(),
    })
    .where('message_id', '=', id)
    .where('status', 'in', ['sending', 'sent'])
    .execute()
}
