/** What the shopper is to be told: one notice an event and channel, in the transaction of its cause (rule 5). */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { exchangeNotify } from '../handles.ts'
import type { ExchangeContent, ExchangeEvent } from '../settings/schema.ts'
import { exchangeRules } from '../settings/settings.ts'

export type NoticeChannel = 'email' | 'messaging'

interface Told {
  id: string
  customer_email: string | null
  customer_phone: string | null
}

/**
 * Queues what the settings send for the event, on each channel on which the shopper is known. The caller holds the
 * request's row, or has just made it: an event that comes again has the next number.
 */
export async function tell(ctx: Context, request: Told, event: ExchangeEvent): Promise<void> {
  const channels = channelsOf(await exchangeRules.inForce(ctx), request, event)
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

/** Whether the settings tell of an event on a channel. */
export function isTold(
  { emails, messaging }: Pick<ExchangeContent, 'emails' | 'messaging'>,
  event: ExchangeEvent,
  channel: NoticeChannel,
): boolean {
  if (channel === 'email') return emails[event].isEnabled
  const { text, officialapiTemplateId } = messaging[event]
  return messaging.isEnabled && (text !== null || officialapiTemplateId !== null)
}

function channelsOf(
  settings: ExchangeContent,
  { customer_email: email, customer_phone: phone }: Told,
  event: ExchangeEvent,
): { channel: NoticeChannel; recipient: string }[] {
  const known = [
    ...(email ? [{ channel: 'email' as const, recipient: email }] : []),
    ...(phone ? [{ channel: 'messaging' as const, recipient: phone }] : []),
  ]
  return known.filter(({ channel }) => isTold(settings, event, channel))
}
