/** Stores inbound messages (rule 3), in the transaction that applies the provider's callback. */

import { sql } from 'kysely'
import type { NewRow } from '#db/tables'
import type { sending } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { greatestKnown } from '#runtime/database/sql'
import { ensureContact, findConversationsByPhone } from '../conversations/contacts.ts'
import { addWords } from '../conversations/conversation-words.ts'
import { inboxContactTier, inboxMediaFetch } from '../handles.ts'
import { isReceiving } from '../state.ts'
import { waitingSince } from '../waiting.ts'
import { buildPreview } from '../words.ts'
import { backfillSentMessages } from './backfill.ts'
import { type InboundPart, readInbound } from './inbound.ts'

/** Handles an inbound message. Ignores it if it did not arrive at the official number, or while the inbox is off. */
export async function receive(ctx: Context, message: sending.InboundMessage): Promise<void> {
  if (message.via !== 'official' || !(await isReceiving(ctx))) return
  await storeInbound(ctx, message, { isUnread: true, mayReopen: () => true })
}

export interface InboundOptions {
  /** Whether the message counts as unread. */
  isUnread: boolean
  /** Whether the message reopens a conversation that was closed at `closedAt`. */
  mayReopen(closedAt: Date): boolean
  /**
   * True for a message from before the number was connected. Nobody waits for its answer, and it opens no messaging
   * window.
   */
  isEarlier?: boolean
}

/** Stores an inbound message. Returns false if it is already stored, or if it is a reaction outside any conversation. */
export async function storeInbound(
  ctx: Context,
  message: sending.InboundMessage,
  manner: InboundOptions,
): Promise<boolean> {
  if (await isKnown(ctx, message.providerMessageId)) return false
  const part = readInbound(message)
  const isReaction = part.type === 'reaction'
  const conversationId = isReaction
    ? await findConversation(ctx, message.phone)
    : await ensureConversation(ctx, message, null, manner.isEarlier)
  // A reaction from a person without a conversation is ignored.
  if (conversationId === null) return false
  const conversation = await ctx.db
    .selectFrom('conversations')
    .selectAll()
    .where('id', '=', conversationId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const id = await storeMessage(ctx, conversationId, message, part, {
    direction: 'inbound',
    source: 'customer',
    status: 'received',
    ...(manner.isEarlier ? { created_at: message.at } : {}),
  })
  if (id === null) return false
  const opens =
    conversation.status === 'closed' && !isReaction && manner.mayReopen(conversation.closed_at ?? message.at)
  const isNewest = message.at >= conversation.last_message_at || conversation.last_message_id === null
  await ctx.db
    .updateTable('conversations')
    .set({
      message_count: sql<number>`message_count + 1`,
      updated_at: ctx.now(),
      ...(isReaction
        ? {}
        : {
            ...(manner.isEarlier
              ? { settled_at: greatestKnown<Date>(sql.ref('settled_at'), sql`${message.at}::timestamptz`) }
              : {
                  last_inbound_at: greatestKnown<Date>(
                    sql.ref('last_inbound_at'),
                    sql`${message.at}::timestamptz`,
                  ),
                }),
            ...(opens || conversation.status === 'open' ? { waiting_since: waitingSince(ctx.db) } : {}),
            ...(manner.isUnread ? { unread_count: sql<number>`unread_count + 1` } : {}),
            ...(isNewest
              ? {
                  last_message_id: id,
                  last_message_at: message.at,
                  last_message_direction: 'inbound',
                  last_message_type: part.type,
                  last_message_status: 'received',
                  last_message_preview: buildPreview(part.type, part.text),
                }
              : {}),
            ...(opens
              ? { status: 'open', closed_at: null, ...(await clearRemovedAssignee(ctx, conversation)) }
              : {}),
          }),
    })
    .where('id', '=', conversationId)
    .execute()
  if (!isReaction) await recordLastInbound(ctx, message.at)
  if (part.media?.status === 'pending') await ctx.queue(inboxMediaFetch, { messageId: id })
  return true
}

/**
 * Stores a message from the provider and adds its words to the search index. Returns the message's id, or null if it is
 * already stored.
 */
export async function storeMessage(
  ctx: Context,
  conversationId: string,
  { at, providerMessageId }: sending.InboundMessage,
  { type, text, media, content, refersTo }: InboundPart,
  own: Pick<NewRow<'inbox_messages'>, 'direction' | 'source' | 'status' | 'sent_at'> & { created_at?: Date },
): Promise<string | null> {
  const isReaction = type === 'reaction'
  const referred = refersTo === null ? null : await findMessageId(ctx, conversationId, refersTo)
  const now = ctx.now()
  const added = await ctx.db
    .insertInto('inbox_messages')
    .values({
      id: ctx.newId(),
      conversation_id: conversationId,
      created_at: now,
      ...own,
      type,
      text,
      media: media && JSON.stringify(media),
      content: content && JSON.stringify(isReaction ? { ...content, messageId: referred } : content),
      reply_to_message_id: isReaction ? null : referred,
      provider_message_id: providerMessageId,
      occurred_at: at,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!added) return null
  await addWords(ctx, conversationId, [{ id: added.id, text }])
  return added.id
}

export async function isKnown(ctx: Context, providerMessageId: string): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('inbox_messages')
    .select('id')
    .where('provider_message_id', '=', providerMessageId)
    .executeTakeFirst()
  return row !== undefined
}

/** Finds the conversation with a phone, which may be spelled in any way. */
export async function findConversation(ctx: Context, phone: string): Promise<string | null> {
  const [found] = (await findConversationsByPhone(ctx, [phone])).values()
  return found?.conversationId ?? null
}

/**
 * Finds or creates the conversation with a phone. Two concurrent first messages create only one contact and one
 * conversation. `firstId` is the id of the message that opens it, if another section sent that message. With `isEarlier`
 * a new conversation is created closed.
 */
export async function ensureConversation(
  ctx: Context,
  { phone, name, at }: { phone: string; name: string | null; at: Date },
  firstId: string | null = null,
  isEarlier = false,
): Promise<string> {
  const contact = await ensureContact(ctx, phone, name)
  const added = await ctx.db
    .insertInto('conversations')
    .values({
      id: ctx.newId(),
      contact_id: contact.id,
      last_message_at: at,
      ...(isEarlier ? { status: 'closed', closed_at: at, settled_at: at } : {}),
      created_at: ctx.now(),
      updated_at: ctx.now(),
    })
    .onConflict((conflict) => conflict.columns(['store_id', 'contact_id']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (added) {
    await backfillSentMessages(ctx, added.id, phone, firstId)
    await ctx.queue(inboxContactTier, { contactIds: [contact.id] })
    return added.id
  }
  const { id } = await ctx.db
    .selectFrom('conversations')
    .select('id')
    .where('contact_id', '=', contact.id)
    .executeTakeFirstOrThrow()
  return id
}

/** Finds our id of a message in the conversation by the provider's id. */
async function findMessageId(
  ctx: Context,
  conversationId: string,
  providerMessageId: string,
): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('inbox_messages')
    .select('id')
    .where('provider_message_id', '=', providerMessageId)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst()
  return row?.id ?? null
}

/** The columns that unassign a conversation if its assignee has left the team. */
async function clearRemovedAssignee(
  ctx: Context,
  conversation: { assignee_id: string | null },
): Promise<{ assignee_id?: null; assignee_name?: null }> {
  if (conversation.assignee_id === null) return {}
  const member = await ctx.db
    .selectFrom('store_people')
    .select('user_id')
    .where('user_id', '=', conversation.assignee_id)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  return member ? {} : { assignee_id: null, assignee_name: null }
}

async function recordLastInbound(ctx: Context, at: Date): Promise<void> {
  await ctx.db
    .updateTable('inbox_settings')
    .set({ last_inbound_at: at })
    .where((eb) => eb.or([eb('last_inbound_at', 'is', null), eb('last_inbound_at', '<', at)]))
    .execute()
}
