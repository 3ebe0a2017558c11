/** What the merchant wrote in the provider's own app: shown where there is a conversation, like any answer. */

import { sql } from 'kysely'
import type { sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { addWords } from '../conversations/conversation-words.ts'
import { inboxMediaFetch } from '../handles.ts'
import { isReceiving } from '../state.ts'
import { readInbound } from './inbound.ts'
import { noteOutbound } from './outbound.ts'
import { existingConversation, idOf, isKnown } from './receive.ts'

export async function receiveEcho(ctx: Context, message: sending.InboundMessage): Promise<void> {
  if (message.via === 'official' && (await isReceiving(ctx))) await takeInEcho(ctx, message)
}

/** Stores it once; false when it was there already, or is written to nobody of the inbox. */
export async function takeInEcho(ctx: Context, message: sending.InboundMessage): Promise<boolean> {
  if (await isKnown(ctx, message.providerMessageId)) return false
  const conversationId = await existingConversation(ctx, message.phone)
  if (conversationId === null) return false
  // Of two copies at once the second waits here, and finds the first.
  await ctx.db
    .selectFrom('conversations')
    .select('id')
    .where('id', '=', conversationId)
    .forNoKeyUpdate()
    .execute()
  const part = readInbound(message)
  const isReaction = part.type === 'reaction'
  const referred = part.refersTo === null ? null : await idOf(ctx, conversationId, part.refersTo)
  const content = isReaction ? { ...part.content, messageId: referred } : part.content
  const { at, providerMessageId } = message
  const [id, now] = [ctx.newId(), ctx.now()]
  const added = await ctx.db
    .insertInto('inbox_messages')
    .values({
      id,
      conversation_id: conversationId,
      direction: 'outbound',
      source: 'provider',
      type: part.type,
      text: part.text,
      media: part.media && JSON.stringify(part.media),
      content: content && JSON.stringify(content),
      reply_to_message_id: isReaction ? null : referred,
      status: 'sent',
      provider_message_id: providerMessageId,
      occurred_at: at,
      sent_at: at,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!added) return false
  await addWords(ctx, conversationId, [{ id, text: part.text }])
  const { type, text } = part
  await noteOutbound(ctx, conversationId, isReaction ? null : { id, type, text, status: 'sent', at })
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
