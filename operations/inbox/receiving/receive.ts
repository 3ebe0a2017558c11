/** Stores inbound messages (rule 3) in the transaction that applies the callback. */

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

/** Called for every inbound message. Ignores it while the inbox is off or if it came through another number. */
export async function receive(ctx: Context, message: sending.InboundMessage): Promise<void> {
  if (message.via !== 'official' || !(await isReceiving(ctx))) return
  await storeInbound(ctx, message, { isUnread: true, mayReopen: () => true })
}

export interface InboundOptions {
  /** Counts as unread. */
  isUnread: boolean
  /** Whether it reopens a conversation that was closed at `closedAt`. */
  mayReopen(closedAt: Date): boolean
  /** Written before the number was connected: nobody waits for an answer, and it opens no messaging window. */
  isEarlier?: boolean
}

/** Stores a message once; false if it is stored already. */
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
  // A reaction to a message outside the inbox creates no conversation.
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

/** Stores a provider message with its search words. Returns its id, or null if it is stored already. */
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

/** Matches the phone in any spelling. */
export async function findConversation(ctx: Context, phone: string): Promise<string | null> {
  const [found] = (await findConversationsByPhone(ctx, [phone])).values()
  return found?.conversationId ?? null
}

/**
 * Finds or creates the conversation. Two concurrent first messages create one contact and one conversation.
 * `firstId`: the first message, if it is in the ledger already. `isEarlier`: a new conversation starts closed.
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

/** Our id of a message in the conversation, by the provider's id. */
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

/** Unassigns a conversation whose assignee has left the team. */
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
