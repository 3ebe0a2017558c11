/** A message that its writer changed, or took back: the one that is shown changes with it. */

import type { MessageChangeData } from '#operations/messaging/door'
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { addWords, dropWords } from '../conversations/conversation-words.ts'
import { isReceiving } from '../state.ts'
import { previewOf } from '../words.ts'

/** In the place of what was taken back, whose type is one that shows nothing. */
const takenBack = { type: 'unsupported', text: 'This message was deleted by its sender' } as const

/** Answers whether the message is there; with the inbox off it is none of ours. */
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
  const isGone = row.type === takenBack.type && row.text === takenBack.text
  // Without words of its own (a picture, say) an edit says nothing that could be shown.
  const now = change ? { type: row.type, text: change.text ?? row.text } : takenBack
  if (isGone || (now.type === row.type && now.text === row.text)) return true
  await ctx.db
    .updateTable('inbox_messages')
    .set({ ...now, ...(change ? {} : { media: null, content: null }), updated_at: ctx.now() })
    .where('id', '=', id)
    .execute()
  await dropWords(ctx, conversationId, id)
  if (change) await addWords(ctx, conversationId, [{ id, text: now.text }])
  else await files.setUses(ctx, `inbox-message:${id}`, [])
  await ctx.db
    .updateTable('conversations')
    .set((eb) => {
      const leading = (column: 'last_message_type' | 'last_message_preview', text: string) =>
        eb.case().when('last_message_id', '=', id).then(text).else(eb.ref(column)).end()
      return {
        last_message_type: leading('last_message_type', now.type),
        last_message_preview: leading('last_message_preview', previewOf(now.type, now.text)),
        updated_at: ctx.now(),
      }
    })
    .where('id', '=', conversationId)
    .execute()
  return true
}
