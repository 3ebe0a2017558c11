/**
 * Stores echoes: the provider's reports of messages that the merchant wrote in the provider's own app. In an existing
 * conversation they count as answers.
 */

import { sql } from 'kysely'
import type { sending } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { inboxMediaFetch } from '../handles.ts'
import { isReceiving } from '../state.ts'
import { readInbound } from './inbound.ts'
import { updateConversationSummary } from './outbound.ts'
import { ensureConversation, findConversation, isKnown, storeMessage } from './receive.ts'

export async function receiveEcho(ctx: Context, message: sending.InboundMessage): Promise<void> {
  if (message.via === 'official' && (await isReceiving(ctx))) await storeEcho(ctx, message)
}

/**
 * Stores an echo. Returns false if the echo is already stored, or if there is no conversation with the phone. `isEarlier`
 * is true for a message from before the number was connected: then a missing conversation is created.
 */
export async function storeEcho(
  ctx: Context,
  message: sending.InboundMessage,
  isEarlier = false,
): Promise<boolean> {
  if (await isKnown(ctx, message.providerMessageId)) return false
  const conversationId = isEarlier
    ? await ensureConversation(ctx, message, null, true)
    : await findConversation(ctx, message.phone)
  if (conversationId === null) return false
  // Serializes concurrent copies of the same echo, so that the second copy finds the first.
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
  await updateConversationSummary(ctx, conversationId, shown)
  if (part.media?.status === 'pending') await ctx.queue(inboxMediaFetch, { messageId: id })
  return true
}

/**
 * Finds the echo that a status callback is about. Echoes are not in the message ledger, and their callbacks carry no
 * idempotency key of ours.
 */
export const providerAppMessages: NonNullable<sending.Sender['external']> = {
  async findByProviderIds(ctx, providerIds) {
    const rows = await written(ctx)
      .select(['id', 'provider_message_id'])
      .where(sql<boolean>`provider_message_id = any(${providerIds}::text[])`)
      .execute()
    return new Map(rows.map((row) => [row.provider_message_id!, row.id]))
  },
  async filterExisting(ctx, messageIds) {
    const rows = await written(ctx)
      .select('id')
      .where(sql<boolean>`id = any(${messageIds}::uuid[])`)
      .execute()
    return rows.map((row) => row.id)
  },
}
const written = ({ db }: Context) => db.selectFrom('inbox_messages').where('source', '=', 'provider')
