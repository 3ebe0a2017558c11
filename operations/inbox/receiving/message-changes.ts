/** Applies a sender's edit or deletion of a message to the stored message. */

import type { MessageChangeData } from '#operations/messaging/index'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { addWords, removeWords } from '../conversations/conversation-words.ts'
import { isReceiving } from '../state.ts'
import { buildPreview } from '../words.ts'

/** Replaces the content of a message that its sender deleted. */
const deletedContent = { type: 'unsupported', text: 'This message was deleted by its sender' } as const

/**
 * Applies a change. Returns false if the message is not stored yet, so that the change must be applied later. While the
 * inbox is off, a change of an unknown message is ignored.
 */
export async function changeMessage(
  ctx: Context,
  { providerMessageId, change }: MessageChangeData,
): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('inbox_messages')
    .select(['id', 'conversation_id', 'type', 'text'])
    .where('provider_message_id', '=', providerMessageId)
    .executeTakeFirst()
  if (!row) return !(await isReceiving(ctx))
  const { id, conversation_id: conversationId } = row
  const isGone = row.type === deletedContent.type && row.text === deletedContent.text
  // An edit without text, for example of a picture, keeps the stored text.
  const now = change ? { type: row.type, text: change.text ?? row.text } : deletedContent
  if (isGone || (now.type === row.type && now.text === row.text)) return true
  await ctx.db
    .updateTable('inbox_messages')
    .set({ ...now, ...(change ? {} : { media: null, content: null }), updated_at: ctx.now() })
    .where('id', '=', id)
    .execute()
  await removeWords(ctx, conversationId, id)
  if (change) await addWords(ctx, conversationId, [{ id, text: now.text }])
  else await files.setUses(ctx, `inbox-message:${id}`, [])
  await ctx.db
    .updateTable('conversations')
    .set((eb) => {
      const leading = (column: 'last_message_type' | 'last_message_preview', text: string) =>
        eb.case().when('last_message_id', '=', id).then(text).else(eb.ref(column)).end()
      return {
        last_message_type: leading('last_message_type', now.type),
        last_message_preview: leading('last_message_preview', buildPreview(now.type, now.text)),
        updated_at: ctx.now(),
      }
    })
    .where('id', '=', conversationId)
    .execute()
  return true
}
