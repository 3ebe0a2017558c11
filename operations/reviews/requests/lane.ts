/** Requests and reminders leave by the outbox: what speaks against one by now, and what becomes of its requests. */

import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { dayMs, minuteMs } from '#runtime/durations'
import { asksForReviews, findSettings } from '../settings/settings.ts'
import { objectionToMessage } from './claims.ts'
import { isSkip } from './codes.ts'
import { daysLater } from './times.ts'

interface RequestMessage extends outbox.Single {
  kind: 'first' | 'reminder'
  content: outbox.Said | null
  createdAt: Date
}

export const requestMessages = outbox.single<RequestMessage>()({
  kind: 'rv',
  source: 'review-request',
  table: 'review_messages',
  columns: {
    attempt: ['number'],
    email: ['email'],
    status: ['state', 'text'],
    code: ['failure', 'text'],
    content: ['content', 'jsonb'],
    tries: ['calls'],
    createdAt: ['created_at'],
    // Its own `kind`, not the lane's.
    kind: ['kind'],
  },
  leaving: ['sending'],
  shown: { delivered: 'sent', read: 'sent' },
  // The text had its link in it, whose token is kept nowhere else.
  claim: ['content'],
  retriesAfterMs: [minuteMs, 5 * minuteMs, 15 * minuteMs, 60 * minuteMs],
  waitsMs: dayMs,
  async objection(tx, { id, tries, createdAt }) {
    // What was claimed a moment ago has just been judged.
    if (tries === 0 && tx.now().getTime() - createdAt.getTime() < minuteMs) return null
    const code = await objectionToMessage(tx, id)
    return code && { code, reason: 'Nothing calls for it any more' }
  },
  letter: async (_tx, row) => ({ row, letter: outbox.letterOf(row.content!, row) }),
  departing: ({ id, content }) => ({ sourceId: id, sourceName: null, ...outbox.shownAs(content) }),
  async moved(tx, moves) {
    for (const { before, after } of moves) {
      if (after.status === before.status) continue
      if (after.status === 'sent') await requestsSent(tx, after)
      // A reminder that failed leaves the request as it was sent.
      else if (after.kind === 'first') await requestsFailed(tx, after)
    }
  },
})

/** They are `sent`, and the next reminder has its time. */
async function requestsSent(tx: Context, { id, kind, sentAt: at }: RequestMessage): Promise<void> {
  const { settings } = await findSettings(tx)
  const { reminder, request } = settings
  const remindAt =
    asksForReviews(settings) && reminder.isEnabled
      ? daysLater(at!, reminder.delayDays, request.sendTime, tx.store.timezone)
      : null
  const isReminder = kind === 'reminder'
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
    // A message that was given up may have arrived after all.
    .where('status', 'in', isReminder ? ['sent'] : ['sending', 'failed'])
    .execute()
}

async function requestsFailed(tx: Context, { id, code }: RequestMessage): Promise<void> {
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
