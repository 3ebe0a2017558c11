/** What the inbox does with a message that came in (rule 3), within the transaction that applies the callback. */

import { sql } from 'kysely'
import type { NewRow } from '#db/tables'
import type { sending } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { greatestKnown } from '#runtime/database/sql'
import { conversationsOf, ensureContact } from '../conversations/contacts.ts'
import { addWords } from '../conversations/conversation-words.ts'
import { inboxContactTier, inboxMediaFetch } from '../handles.ts'
import { isReceiving } from '../state.ts'
import { waitingSince } from '../waiting.ts'
import { previewOf } from '../words.ts'
import { putEarlierBefore } from './earlier.ts'
import { type InboundPart, readInbound } from './inbound.ts'

/** Called for every inbound message; with the inbox off, or on another number than the official one, it is not ours. */
export async function receive(ctx: Context, message: sending.InboundMessage): Promise<void> {
  if (message.via !== 'official' || !(await isReceiving(ctx))) return
  await takeIn(ctx, message, { counts: true, mayOpen: () => true })
}

export interface Manner {
  /** Whether it is unread. */
  counts: boolean
  /** Whether it opens a conversation that was closed at this instant. */
  mayOpen(closedAt: Date): boolean
  /** From before the number was connected: nobody waits, and no window is open for it. */
  isEarlier?: boolean
}

/** Stores a message once; false when it was there already. */
export async function takeIn(
  ctx: Context,
  message: sending.InboundMessage,
  manner: Manner,
): Promise<boolean> {
  if (await isKnown(ctx, message.providerMessageId)) return false
  const part = readInbound(message)
  const isReaction = part.type === 'reaction'
  const conversationId = isReaction
    ? await existingConversation(ctx, message.phone)
    : await ensureConversation(ctx, message, null, manner.isEarlier)
  // A reaction to a message outside the inbox begins no conversation.
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
    conversation.status === 'closed' && !isReaction && manner.mayOpen(conversation.closed_at ?? message.at)
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
            ...(manner.counts ? { unread_count: sql<number>`unread_count + 1` } : {}),
            ...(isNewest
              ? {
                  last_message_id: id,
                  last_message_at: message.at,
                  last_message_direction: 'inbound',
                  last_message_type: part.type,
                  last_message_status: 'received',
                  last_message_preview: previewOf(part.type, part.text),
                }
              : {}),
            ...(opens
              ? { status: 'open', closed_at: null, ...(await stillAssigned(ctx, conversation)) }
              : {}),
          }),
    })
    .where('id', '=', conversationId)
    .execute()
  if (!isReaction) await noteLastInbound(ctx, message.at)
  if (part.media?.status === 'pending') await ctx.queue(inboxMediaFetch, { messageId: id })
  return true
}

/** Stores a message that the provider tells of, with its words; null when it was there already. Answers its id. */
export async function storeMessage(
  ctx: Context,
  conversationId: string,
  { at, providerMessageId }: sending.InboundMessage,
  { type, text, media, content, refersTo }: InboundPart,
  own: Pick<NewRow<'inbox_messages'>, 'direction' | 'source' | 'status' | 'sent_at'> & { created_at?: Date },
): Promise<string | null> {
  const isReaction = type === 'reaction'
  const referred = refersTo === null ? null : await idOf(ctx, conversationId, refersTo)
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

/** With that phone, in any spelling. */
export async function existingConversation(ctx: Context, phone: string): Promise<string | null> {
  const [found] = (await conversationsOf(ctx, [phone])).values()
  return found?.conversationId ?? null
}

/**
 * Two first messages at the same instant make one contact and one conversation. `firstId`: of one in the ledger already.
 * `isEarlier`: it begins closed.
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
    await putEarlierBefore(ctx, added.id, phone, firstId)
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

/** Of a message of the conversation, by the provider's id. */
async function idOf(ctx: Context, conversationId: string, providerMessageId: string): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('inbox_messages')
    .select('id')
    .where('provider_message_id', '=', providerMessageId)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst()
  return row?.id ?? null
}

/** Who left the team meanwhile has it no longer. */
async function stillAssigned(
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

async function noteLastInbound(ctx: Context, at: Date): Promise<void> {
  await ctx.db
    .updateTable('inbox_settings')
    .set({ last_inbound_at: at })
    .where((eb) => eb.or([eb('last_inbound_at', 'is', null), eb('last_inbound_at', '<', at)]))
    .execute()
}
