/** What the merchant wrote in the provider's own app: shown where there is a conversation, like any answer. */

import { sql } from 'kysely'
import type { sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { inboxMediaFetch } from '../handles.ts'
import { isReceiving } from '../state.ts'
import { readInbound } from './inbound.ts'
import { noteOutbound } from './outbound.ts'
import { ensureConversation, existingConversation, isKnown, storeMessage } from './receive.ts'

export async function receiveEcho(ctx: Context, message: sending.InboundMessage): Promise<void> {
  if (message.via === 'official' && (await isReceiving(ctx))) await takeInEcho(ctx, message)
}

/**
 * Stores it once; false when it was there already, or is written to nobody of the inbox. `isEarlier`: from before the
 * number was connected.
 */
export async function takeInEcho(
  ctx: Context,
  message: sending.InboundMessage,
  isEarlier = false,
): Promise<boolean> {
  if (await isKnown(ctx, message.providerMessageId)) return false
  const conversationId = isEarlier
    ? await ensureConversation(ctx, message, null, true)
    : await existingConversation(ctx, message.phone)
  if (conversationId === null) return false
  // Of two copies at once the second waits here, and finds the first.
  await ctx.db
    .selectFrom('conversations')
    .select('id')
    .where('id', '=', conversationId)
    .forNoKeyUpdate()
    .execute()
  const part = readInbound(message)
  const { at } = message
  const id = await storeMessage(ctx, conversationId, message, part, {
    direction: 'outbound',
    source: 'provider',
    status: 'sent',
    sent_at: at,
  })
  if (id === null) return false
  const { type, text } = part
  const shown = type === 'reaction' ? null : ({ id, type, text, status: 'sent', at } as const)
  await noteOutbound(ctx, conversationId, shown)
  if (part.media?.status === 'pending') await ctx.queue(inboxMediaFetch, { messageId: id })
  return true
}

/** Their statuses come without a key of ours, and no ledger knows them. */
export const writtenElsewhere: NonNullable<sending.Sender['elsewhere']> = {
  async byProviderIds(ctx, providerIds) {
    const rows = await written(ctx)
      .select(['id', 'provider_message_id'])
      .where(sql<boolean>`provider_message_id = any(${providerIds}::text[])`)
      .execute()
    return new Map(rows.map((row) => [row.provider_message_id!, row.id]))
  },
  async among(ctx, messageIds) {
    const rows = await written(ctx)
      .select('id')
      .where(sql<boolean>`id = any(${messageIds}::uuid[])`)
      .execute()
    return rows.map((row) => row.id)
  },
}
const written = ({ db }: Context) => db.selectFrom('inbox_messages').where('source', '=', 'provider')
