/** Notices to shoppers leave by the outbox: what one says, what speaks against it, and what its request's history tells. */

import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { exchangeNotify } from '../handles.ts'
import { byTheSystem, note } from '../requests/history.ts'
import type { NoticeChannel } from '../requests/tell.ts'
import type { NoticeContent } from '../settings/notice-texts.ts'
import type { ExchangeEvent } from '../settings/schema.ts'
import { contentOf } from './content.ts'
import { objectionTo } from './leaving.ts'

interface Notice extends outbox.Single {
  requestId: string
  event: ExchangeEvent
  channel: NoticeChannel
  content: NoticeContent | null
  createdAt: Date
}

export const notices = outbox.single<Notice>()({
  kind: 'ex',
  source: 'exchange',
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
  joined: (messages) =>
    messages.select([
      sql<string | null>`case m.channel when 'email' then m.recipient end`.as('email'),
      sql<string | null>`case m.channel when 'messaging' then m.recipient end`.as('phone'),
    ]),
  leaving: ['sending', 'waiting'],
  shown: { delivered: 'sent', read: 'sent' },
  // The text had its link in it, whose token is kept nowhere else.
  claim: ['content'],
  retriesAfterMs: [hourMs / 60, hourMs / 12, hourMs / 4, hourMs],
  waitsMs: 24 * hourMs,
  woken: (tx, noticeId) => tx.queue(exchangeNotify, { noticeId }),
  // Before its notices: deleting a request goes that way.
  hold: holdRequests,
  objection: objectionTo,
  letter,
  departing: ({ requestId, content }) => ({
    sourceId: requestId,
    sourceName: null,
    ...outbox.shownAs(content),
  }),
  moved,
})

async function holdRequests(tx: Context, ids: readonly string[]): Promise<void> {
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

/** Its text and, for a message, its unit of the quota. */
async function letter(tx: Context, notice: Notice): Promise<outbox.Ready<Notice>> {
  const row = notice.content ? notice : await prepared(tx, notice)
  return 'code' in row && !('id' in row)
    ? row
    : { row: row as Notice, letter: outbox.letterOf((row as Notice).content!, row as Notice) }
}

async function prepared(tx: Context, notice: Notice): Promise<Notice | outbox.Failure> {
  const request = await tx.db
    .selectFrom('exchange_requests')
    .selectAll()
    .where('id', '=', notice.requestId)
    .executeTakeFirst()
  if (!request) return { code: 'moved-on', reason: 'The request was deleted' }
  const content = await contentOf(tx, request, notice)
  if (content === 'template-refused') {
    return { code: content, reason: 'Neither the settings nor the number have a way to say it' }
  }
  if (content.channel === 'email') return { ...notice, content }
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

/** The request's history tells it; of a request that was deleted meanwhile nothing is kept. */
async function moved(tx: Context, moves: readonly outbox.Move<Notice>[]): Promise<void> {
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
    await note(tx, requestId, {
      event: code === null ? 'notified' : 'notification-failed',
      actor: byTheSystem,
      note: code === null ? what : `${what} (${code})`,
    })
  }
}
