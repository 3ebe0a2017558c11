/** Preconditions of sending a notice, checked before each attempt unless an earlier attempt may have sent the notice. */

import type { outbox } from '#operations/messaging/index'
import { readEntitlement } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { isNoticeEnabled, type NoticeChannel } from '../requests/notice-queue.ts'
import { isStillTrue } from '../requests/transitions.ts'
import type { ExchangeEvent } from '../settings/schema.ts'
import { readSettings } from '../settings/settings.ts'
import type { PreconditionCode } from './codes.ts'

/** A notice older than this is not sent, because the shopper's status page shows the current state. */
const maxAgeMs = dayMs

interface WaitingNotice {
  requestId: string
  event: ExchangeEvent
  channel: NoticeChannel
  createdAt: Date
}

const reasonTexts: Record<PreconditionCode, string> = {
  'moved-on': 'The status of the request has changed since',
  'too-late': 'It was more than a day late: the link shows the current status',
  'turned-off': 'This notice is turned off in the settings',
  'subscription-inactive': 'The subscription does not allow messages now',
}

/**
 * Returns the failed precondition with its text for the history, or null when the notice may be sent. Runs in the
 * transaction that claims the notice.
 */
export async function findFailedPrecondition(
  tx: Context,
  notice: WaitingNotice,
): Promise<outbox.Failure | null> {
  const code = await findCode(tx, notice)
  return code && { code, reason: reasonTexts[code] }
}

async function findCode(tx: Context, notice: WaitingNotice): Promise<PreconditionCode | null> {
  const { event, channel } = notice
  const request = await tx.db
    .selectFrom('exchange_requests')
    .select('status')
    .where('id', '=', notice.requestId)
    .executeTakeFirst()
  if (request && !isStillTrue(event, request.status)) return 'moved-on'
  if (tx.now().getTime() - notice.createdAt.getTime() > maxAgeMs) return 'too-late'
  if (!isNoticeEnabled(await readSettings(tx), event, channel)) return 'turned-off'
  if (channel === 'messaging' && !(await readEntitlement(tx)).canWrite) return 'subscription-inactive'
  return null
}
