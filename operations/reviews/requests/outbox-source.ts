/** Outbox source for review requests and reminders: preconditions at dispatch, and the results for their requests. */

import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { dayMs, minuteMs } from '#runtime/durations'
import { areRequestsOn, findSettings } from '../settings/settings.ts'
import { findMessageSkipReason } from './claims.ts'
import { isSkip } from './skip-reasons.ts'
import { scheduleAfterDays } from './times.ts'

interface RequestMessage extends outbox.SingleState {
  kind: 'first' | 'reminder'
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
    content: ['content', 'jsonb'],
    tries: ['calls'],
    createdAt: ['created_at'],
    // The column `kind`, not the source's `kind`.
    kind: ['kind'],
  },
  inFlightStatuses: ['sending'],
  statusNames: { delivered: 'sent', read: 'sent' },
  // The text contains the link's token, which is stored nowhere else.
  claimColumns: ['content'],
  retryDelaysMs: [minuteMs, 5 * minuteMs, 15 * minuteMs, 60 * minuteMs],
  maxWaitMs: dayMs,
  async checkPreconditions(tx, { id, tries, createdAt }) {
    // Claimed within the last minute: its eligibility was just checked.
    if (tries === 0 && tx.now().getTime() - createdAt.getTime() < minuteMs) return null
    const code = await findMessageSkipReason(tx, id)
    return code && { code, reason: 'Nothing calls for it any more' }
  },
  prepare: async (_tx, row) => ({ row, outgoing: outbox.toOutgoing(row.content!, row) }),
  describeSent: ({ id, content }) => ({ sourceId: id, sourceName: null, ...outbox.toInboxFields(content) }),
  async onTransitions(tx, moves) {
    for (const { before, after } of moves) {
      if (after.status === before.status) continue
      if (after.status === 'sent') await markRequestsSent(tx, after)
      // A failed reminder leaves the request `sent`.
      else if (after.kind === 'first') await markRequestsFailed(tx, after)
    }
  },
})

/** Marks the requests as `sent` and schedules the next reminder. */
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
      // Customers who reviewed in the meantime get no reminder.
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
    // A message marked as failed may have been delivered after all.
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
