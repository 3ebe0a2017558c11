/** Echoes: messages the merchant wrote in the provider's own app. They count as answers if a conversation exists. */

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
 * Stores an echo once. False if it is stored already or no conversation exists. `isEarlier`: written before the
 * number was connected; it then creates the conversation.
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
  // Serializes concurrent copies of the same echo: the second one finds the first.
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

/** Looks up echoes for status callbacks: they carry no key of ours and are not in the ledger. */
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
