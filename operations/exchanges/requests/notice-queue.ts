/** Queues notices to the shopper: one per event and channel, in the transaction that records the event (rule 5). */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { exchangeNotify } from '../handles.ts'
import type { ExchangeContent, ExchangeEvent } from '../settings/schema.ts'
import { exchangeRules } from '../settings/settings.ts'

export type NoticeChannel = 'email' | 'messaging'

interface NoticeRecipient {
  id: string
  customer_email: string | null
  customer_phone: string | null
}

/**
 * Queues the notices that the settings enable for the event, on each channel the shopper has an address for. A repeated
 * event gets the next sequence number; for this, the caller must have locked or just inserted the request's row.
 */
export async function queueNotices(
  ctx: Context,
  request: NoticeRecipient,
  event: ExchangeEvent,
): Promise<void> {
  const channels = listChannels(await exchangeRules.getEffective(ctx), request, event)
  const now = ctx.now()
  for (const { channel, recipient } of channels) {
    const noticeId = ctx.newId()
    const { next } = await ctx.db
      .selectFrom('exchange_notices as n')
      .select(sql<number>`coalesce(max(n.sequence), 0) + 1`.as('next'))
      .where('n.request_id', '=', request.id)
      .where('n.event', '=', event)
      .where('n.channel', '=', channel)
      .executeTakeFirstOrThrow()
    await ctx.db
      .insertInto('exchange_notices')
      .values({
        id: noticeId,
        request_id: request.id,
        event,
        sequence: next,
        channel,
        state: 'waiting',
        recipient,
        next_try_at: now,
        created_at: now,
        updated_at: now,
      })
      .execute()
    await ctx.queue(exchangeNotify, { noticeId })
  }
}

/** Whether the settings enable the notice of an event on a channel. */
export function isNoticeEnabled(
  { emails, messaging }: Pick<ExchangeContent, 'emails' | 'messaging'>,
  event: ExchangeEvent,
  channel: NoticeChannel,
): boolean {
  if (channel === 'email') return emails[event].isEnabled
  const { text, officialapiTemplateId } = messaging[event]
  return messaging.isEnabled && (text !== null || officialapiTemplateId !== null)
}

function listChannels(
  settings: ExchangeContent,
  { customer_email: email, customer_phone: phone }: NoticeRecipient,
  event: ExchangeEvent,
): { channel: NoticeChannel; recipient: string }[] {
  const known = [
    ...(email ? [{ channel: 'email' as const, recipient: email }] : []),
    ...(phone ? [{ channel: 'messaging' as const, recipient: phone }] : []),
  ]
  return known.filter(({ channel }) => isNoticeEnabled(settings, event, channel))
}
