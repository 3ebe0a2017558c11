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
import { recountWaiting, waitingWhereOpen } from '../waiting.ts'
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

const rank = { queued: 0, sent: 1, failed: 2, delivered: 3, read: 4 } as const
type Status = keyof typeof rank

/** Statuses of the messages that the inbox shows, whoever sent them: only upwards, in one conditional update each. */
export async function applyCallback(ctx: Context, changes: sending.DeliveryStatus[]): Promise<void> {
  if (changes.length === 0) return
  const ids = [...new Set(changes.map((change) => change.messageId))]
  const shown = await ctx.db
    .selectFrom('inbox_messages')
    .select('id')
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .where('direction', '=', 'outbound')
    .execute()
  const known = new Set(shown.map((row) => row.id))
  for (const change of changes) if (known.has(change.messageId)) await applyStatus(ctx, change)
}

async function applyStatus(ctx: Context, change: sending.DeliveryStatus): Promise<void> {
  const { at, status, messageId } = change
  const below = (Object.keys(rank) as Status[]).filter((each) => rank[each] < rank[status])
  const arrived = status === 'delivered' || status === 'read'
  const now = ctx.now()
  const moved = await ctx.db
    .updateTable('inbox_messages')
    .set({
      status,
      updated_at: now,
      provider_message_id: sql<string>`coalesce(provider_message_id, ${change.providerMessageId})`,
      sent_at: sql<Date>`coalesce(sent_at, ${at}::timestamptz)`,
      ...(arrived
        ? {
            delivered_at: sql<Date>`coalesce(delivered_at, ${at}::timestamptz)`,
            failed_at: null,
            error_code: null,
            error_message: null,
          }
        : {}),
      ...(status === 'read' ? { read_at: at } : {}),
      ...(status === 'failed'
        ? { failed_at: at, error_code: change.failureCode, error_message: change.failureMessage }
        : {}),
    })
    .where('id', '=', messageId)
    .where('status', 'in', below)
    .returning('conversation_id')
    .executeTakeFirst()
  if (!moved) return
  await ctx.db
    .updateTable('conversations')
    .set({ last_message_status: status, updated_at: now })
    .where('id', '=', moved.conversation_id)
    .where('last_message_id', '=', messageId)
    .execute()
  if (status === 'failed' || arrived) await recountWaiting(ctx, moved.conversation_id)
}
