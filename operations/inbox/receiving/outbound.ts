/** Adds messages that other sections sent to the conversations with their recipients (rule 4). */
import { sql } from 'kysely'
import type { NewRow } from '#db/tables'
import type { sending } from '#operations/messaging/index'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'
import { findConversationsByPhone } from '../conversations/contacts.ts'
import { addWords } from '../conversations/conversation-words.ts'
import { memberName } from '../conversations/conversations.ts'
import { isReceiving } from '../state.ts'
import { waitingSinceIfOpen } from '../waiting.ts'
import { buildPreview } from '../words.ts'
import { ensureConversation } from './receive.ts'
import { findSentContent, type SentContent, toMessageSource, unknownContent } from './sent-content.ts'

/**
 * Adds sent messages, in the transaction that records them as sent. Ignores the inbox's own messages, which already
 * have a row.
 */
export async function recordOutbound(ctx: Context, departures: sending.Departure[]): Promise<void> {
  const others = departures.filter((each) => each.source !== 'inbox' && each.isKnown)
  if (others.length === 0 || !(await isReceiving(ctx))) return
  const official = (await isOfficialSelected(ctx)) ? others : others.filter((each) => each.via === 'official')
  if (official.length === 0) return
  const conversations = await findConversationsByPhone(
    ctx,
    official.map((each) => each.phone),
  )
  for (const each of official) {
    const key = phoneKey(each.phone)
    if (each.source !== 'direct' || conversations.has(key)) continue
    const conversationId = await ensureConversation(
      ctx,
      { phone: each.phone, name: null, at: each.sentAt },
      each.messageId,
    )
    conversations.set(key, { conversationId, status: 'open' })
  }
  const shown = official.filter((each) => conversations.has(phoneKey(each.phone)))
  const texts = await findSentContent(
    ctx,
    shown.map((each) => each.messageId),
  )
  for (const each of shown) {
    const { conversationId } = conversations.get(phoneKey(each.phone))!
    await showMessage(ctx, conversationId, each, texts.get(each.messageId) ?? readDepartureContent(each))
  }
}

/** Builds the content from the sent message itself, for sections whose tables the inbox does not read. */
const readDepartureContent = ({
  text = null,
  officialapiTemplateId: templateId = null,
  sentBy = null,
}: sending.Departure): SentContent => ({
  ...unknownContent,
  type: templateId === null ? 'text' : 'template',
  text,
  templateId,
  sentBy,
})

async function isOfficialSelected(ctx: Context): Promise<boolean> {
  const { messaging_connection_type } = await ctx.db
    .selectFrom('stores')
    .select('messaging_connection_type')
    .executeTakeFirstOrThrow()
  return messaging_connection_type === 'official'
}

async function showMessage(
  ctx: Context,
  conversationId: string,
  sent: sending.Departure,
  { type, text, templateId, media, sentBy }: SentContent,
): Promise<void> {
  const now = ctx.now()
  const source = toMessageSource(sent.source)
  const row: Omit<NewRow<'inbox_messages'>, 'store_id'> = {
    id: sent.messageId,
    conversation_id: conversationId,
    direction: 'outbound',
    source,
    type,
    text,
    media: media && JSON.stringify(media),
    officialapi_template_id: templateId,
    status: 'sent',
    provider_message_id: sent.providerMessageId,
    sent_by: sentBy,
    sent_by_name: sentBy === null ? null : await memberName(ctx, sentBy),
    occurred_at: sent.sentAt,
    sent_at: sent.sentAt,
    created_at: now,
    updated_at: now,
  }
  const added = await ctx.db
    .insertInto('inbox_messages')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!added) return
  if (media?.url) {
    // Keeps the file while the message exists: otherwise it would be deleted with the campaign that it belongs to. A file
    // that is already deleted is not shown.
    const use = { url: media.url, purpose: null, field: 'media' }
    await files.setUses(ctx, `inbox-message:${sent.messageId}`, [use], new Set([use.url]))
  }
  await addWords(ctx, conversationId, [row])
  const leads = sentBy !== null || source === 'api'
  await updateConversationSummary(ctx, conversationId, leads ? { ...row, at: sent.sentAt } : null)
}

/**
 * Counts a stored message in its conversation. If a person sent it, pass it as `leading`: then the list shows it as the
 * last message, and the contact no longer waits for an answer.
 */
export async function updateConversationSummary(
  ctx: Context,
  conversationId: string,
  leading: { id: string; type: string; text?: string | null; status: string; at: Date } | null,
): Promise<void> {
  await ctx.db
    .updateTable('conversations')
    .set({
      message_count: sql<number>`message_count + 1`,
      updated_at: ctx.now(),
      ...(leading ? { waiting_since: waitingSinceIfOpen(ctx.db) } : {}),
    })
    .where('id', '=', conversationId)
    .execute()
  if (!leading) return
  await ctx.db
    .updateTable('conversations')
    .set({
      last_message_id: leading.id,
      last_message_at: leading.at,
      last_message_direction: 'outbound',
      last_message_type: leading.type,
      last_message_status: leading.status,
      last_message_preview: buildPreview(leading.type, leading.text ?? null),
    })
    .where('id', '=', conversationId)
    .where((eb) => eb.or([eb('last_message_id', 'is', null), eb('last_message_at', '<=', leading.at)]))
    .execute()
}
