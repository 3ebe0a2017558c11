/** Applies bounces of emails: the message of the bounced email fails. */
import type { events } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { MailEventData } from '#runtime/ports/mail/port'
import type { StatusData } from '../provider/hook-body.ts'
import { applyStatuses, parseKey } from './apply.ts'

/** Returns the ids of events whose message is unknown. Emails that are no messages, such as a coupon, are skipped. */
export const applyBounces = (ctx: Context, stored: events.StoredEvent[]): Promise<readonly string[]> =>
  applyStatuses(
    ctx,
    stored.flatMap((event) => {
      const { messageKey, reason } = event.data as MailEventData
      if (!parseKey(messageKey)) return []
      const data: StatusData = {
        providerMessageId: event.key,
        key: messageKey,
        status: 'failed',
        failureCode: 'recipient-refused',
        failureMessage: reason,
        recipient: null,
      }
      return [{ ...event, data }]
    }),
  )
