/** Messages that other sections sent, and what became of any: shown where there is a conversation (rule 4). */
import { sql } from 'kysely'
import type { NewRow } from '#db/tables'
import type { sending } from '#operations/messaging/door'
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'
import { conversationsOf } from '../conversations/contacts.ts'
import { addWords } from '../conversations/conversation-words.ts'
import { memberName } from '../conversations/conversations.ts'
import { isReceiving } from '../state.ts'
import { waitingWhereOpen } from '../waiting.ts'
import { previewOf } from '../words.ts'
import { ensureConversation } from './receive.ts'
import { type SentText, sourceOf, textsOf, unknownText } from './sent-texts.ts'

/** Called in the transaction that records messages as sent. Its own have a row already. */
export async function recordOutbound(ctx: Context, departures: sending.Departure[]): Promise<void> {
  const others = departures.filter((each) => each.source !== 'inbox' && each.isKnown)
  if (others.length === 0 || !(await isReceiving(ctx))) return
  const official = (await isOfficialSelected(ctx)) ? others : others.filter((each) => each.via === 'official')
  if (official.length === 0) return
  const conversations = await conversationsOf(
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
  const texts = await textsOf(
    ctx,
    shown.map((each) => each.messageId),
  )
  for (const each of shown) {
    const { conversationId } = conversations.get(phoneKey(each.phone))!
    await show(ctx, conversationId, each, texts.get(each.messageId) ?? textOf(each))
  }
}

/** Of a section whose rows the inbox does not know: as it was told. */
const textOf = ({
  text = null,
  officialapiTemplateId: templateId = null,
  sentBy = null,
}: sending.Departure): SentText => ({
  ...unknownText,
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

async function show(
  ctx: Context,
  conversationId: string,
  sent: sending.Departure,
  { type, text, templateId, media, sentBy }: SentText,
): Promise<void> {
  const now = ctx.now()
  const source = sourceOf(sent.source)
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
    // Its file may be the campaign's, which goes with it; what is gone by now is not shown.
    const use = { url: media.url, purpose: null, field: 'media' }
    await files.setUses(ctx, `inbox-message:${sent.messageId}`, [use], new Set([use.url]))
  }
  await addWords(ctx, conversationId, [row])
  const leads = sentBy !== null || source === 'api'
  await noteOutbound(ctx, conversationId, leads ? { ...row, at: sent.sentAt } : null)
}

/** Counts a message that is stored; `leading`, one by a person, is what the list shows, and answers who waited. */
export async function noteOutbound(
  ctx: Context,
  conversationId: string,
  leading: { id: string; type: string; text?: string | null; status: string; at: Date } | null,
): Promise<void> {
  await ctx.db
    .updateTable('conversations')
    .set({
      message_count: sql<number>`message_count + 1`,
      updated_at: ctx.now(),
      ...(leading ? { waiting_since: waitingWhereOpen(ctx.db) } : {}),
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
      last_message_preview: previewOf(leading.type, leading.text ?? null),
    })
    .where('id', '=', conversationId)
    .where((eb) => eb.or([eb('last_message_id', 'is', null), eb('last_message_at', '<=', leading.at)]))
    .execute()
}
