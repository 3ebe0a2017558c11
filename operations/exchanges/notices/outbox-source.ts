/** The outbox source of notices to shoppers: content, preconditions, and history entries of their outcome. */

import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { exchangeNotify } from '../handles.ts'
import { addHistoryEntry, systemActor } from '../requests/history.ts'
import type { NoticeChannel } from '../requests/notice-queue.ts'
import type { NoticeContent } from '../settings/notice-texts.ts'
import type { ExchangeEvent } from '../settings/schema.ts'
import { buildContent } from './content.ts'
import { findFailedPrecondition } from './preconditions.ts'

interface Notice extends outbox.SingleState {
  requestId: string
  event: ExchangeEvent
  channel: NoticeChannel
  content: NoticeContent | null
  createdAt: Date
}

export const notices = outbox.defineSingleSource<Notice>()({
  kind: 'ex',
  messageSource: 'exchange',
  table: 'exchange_notices',
  columns: {
    phone: null,
    status: ['state', 'text'],
    code: ['failure', 'text'],
    content: ['content', 'jsonb'],
    tries: ['tries'],
    requestId: ['request_id'],
    event: ['event'],
    channel: ['channel'],
    createdAt: ['created_at'],
  },
  join: (messages) =>
    messages.select([
      sql<string | null>`case m.channel when 'email' then m.recipient end`.as('email'),
      sql<string | null>`case m.channel when 'messaging' then m.recipient end`.as('phone'),
    ]),
  inFlightStatuses: ['sending', 'waiting'],
  statusNames: { delivered: 'sent', read: 'sent' },
  // The content contains the status link. Its token is stored nowhere else, so the content cannot be built again.
  claimColumns: ['content'],
  retryDelaysMs: [hourMs / 60, hourMs / 12, hourMs / 4, hourMs],
  maxWaitMs: 24 * hourMs,
  wake: (tx, noticeId) => tx.queue(exchangeNotify, { noticeId }),
  // Locks requests before their notices. A deletion locks in the same order, so that the two cannot deadlock.
  lockParents: lockRequests,
  checkPreconditions: findFailedPrecondition,
  prepare: prepareMessage,
  describeSent: ({ requestId, content }) => ({
    sourceId: requestId,
    sourceName: null,
    ...outbox.toInboxFields(content),
  }),
  onTransitions: recordTransitions,
})

async function lockRequests(tx: Context, ids: readonly string[]): Promise<void> {
  await tx.db
    .selectFrom('exchange_requests')
    .select('id')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('exchange_notices')
        .select('request_id')
        .where('id', 'in', [...ids]),
    )
    .orderBy('id')
    .forKeyShare()
    .execute()
}

/**
 * Prepares the content of a notice, again at each try until a call may have reached the provider, so that corrections
 * reach it. For a message, also reserves a quota unit.
 */
async function prepareMessage(tx: Context, notice: Notice): Promise<outbox.Prepared<Notice>> {
  const row = notice.content && notice.calledAt !== null ? notice : await prepareNotice(tx, notice)
  return 'code' in row && !('id' in row)
    ? row
    : { row: row as Notice, outgoing: outbox.toOutgoing((row as Notice).content!, row as Notice) }
}

async function prepareNotice(tx: Context, notice: Notice): Promise<Notice | outbox.Failure> {
  const request = await tx.db
    .selectFrom('exchange_requests')
    .selectAll()
    .where('id', '=', notice.requestId)
    .executeTakeFirst()
  if (!request) return { code: 'moved-on', reason: 'The request was deleted' }
  const content = await buildContent(tx, request, notice)
  if (content === 'template-refused') {
    return { code: content, reason: 'Neither the settings nor the number have a way to say it' }
  }
  if (content.channel === 'email' || notice.reservationId !== null) return { ...notice, content }
  const { reservationId } = await outbox.reserveUpTo(tx, 1, 'exchange')
  if (reservationId === null) return { code: 'quota-exceeded', reason: 'The messages of this cycle are used' }
  return { ...notice, content, reservationId }
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

/**
 * Records the outcomes of notices in the history of their requests. Deletes a notice whose request was deleted
 * meanwhile.
 */
async function recordTransitions(tx: Context, moves: readonly outbox.Transition<Notice>[]): Promise<void> {
  for (const { before, after } of moves) {
    if (after.status === before.status) continue
    const { id, requestId, event, channel, code } = after
    const request = await tx.db
      .selectFrom('exchange_requests')
      .select('id')
      .where('id', '=', requestId)
      .executeTakeFirst()
    if (!request) {
      await tx.db.deleteFrom('exchange_notices').where('id', '=', id).execute()
      continue
    }
    const what = `${channel === 'email' ? 'Email' : 'Message'}: ${eventWords[event]}`
    await addHistoryEntry(tx, requestId, {
      event: code === null ? 'notified' : 'notification-failed',
      actor: systemActor,
      note: code === null ? what : `${what} (${code})`,
    })
  }
}
