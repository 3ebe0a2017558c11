/** Whether a notice that waited may leave now: asked before each try, but of one that may have left already. */

import type { outbox } from '#operations/messaging/door'
import { entitlementOf } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { holdsFor } from '../requests/moves.ts'
import { isTold, type NoticeChannel } from '../requests/tell.ts'
import type { ExchangeEvent } from '../settings/schema.ts'
import { readSettings } from '../settings/settings.ts'
import type { Objection } from './codes.ts'

/** Longer after its event a notice is news no more: the shopper's link shows how things stand. */
const latestMs = dayMs

interface Waiting {
  requestId: string
  event: ExchangeEvent
  channel: NoticeChannel
  createdAt: Date
}

const sentences: Record<Objection, string> = {
  'moved-on': 'The request has moved on meanwhile',
  'too-late': 'It was more than a day late: the link shows how things stand',
  'turned-off': 'The settings do not tell of this any more',
  'subscription-inactive': 'The subscription does not allow messages now',
}

/** Why it stays, as the history tells it; null: it leaves. In the transaction that claims it. */
export async function objectionTo(tx: Context, notice: Waiting): Promise<outbox.Failure | null> {
  const code = await codeOf(tx, notice)
  return code && { code, reason: sentences[code] }
}

async function codeOf(tx: Context, notice: Waiting): Promise<Objection | null> {
  const { event, channel } = notice
  const request = await tx.db
    .selectFrom('exchange_requests')
    .select('status')
    .where('id', '=', notice.requestId)
    .executeTakeFirst()
  if (request && !holdsFor(event, request.status)) return 'moved-on'
  if (tx.now().getTime() - notice.createdAt.getTime() > latestMs) return 'too-late'
  if (!isTold(await readSettings(tx), event, channel)) return 'turned-off'
  if (channel === 'messaging' && !(await entitlementOf(tx)).canWrite) return 'subscription-inactive'
  return null
}
