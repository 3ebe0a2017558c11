/**
 * Adds messages that were sent to the contact before to a new conversation, because the contact may be answering them.
 */

import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { phoneKey } from '#runtime/values/phone'
import { addWords } from '../conversations/conversation-words.ts'
import { findSentContent, toMessageSource, unknownContent } from './sent-content.ts'

const atMost = 20
const days = 7

/**
 * Inserts the newest messages that other sections sent to the contact in the last 7 days, at most 20. Excludes `firstId`,
 * the message that opens the conversation.
 */
export async function backfillSentMessages(
  ctx: Context,
  conversationId: string,
  phone: string,
  firstId: string | null,
): Promise<void> {
  const now = ctx.now()
  const since = new Date(now.getTime() - days * dayMs)
  const sent = await ctx.db
    .selectFrom('message_ledger')
    .select([
      'message_id',
      'source',
      'status',
      'provider_message_id',
      'failure_code',
      'sent_at',
      'delivered_at',
      'read_at',
      'failed_at',
    ])
    .where('phone_key', '=', phoneKey(phone))
    .where('channel', '=', 'messaging')
    .where('source', '<>', 'inbox')
    .where('sent_at', '>', since)
    .where('message_id', 'is distinct from', firstId)
    .orderBy('sent_at', 'desc')
    .limit(atMost)
    .execute()
  if (sent.length === 0) return
  const texts = await findSentContent(
    ctx,
    sent.map((row) => row.message_id),
  )
  await ctx.db
    .insertInto('inbox_messages')
    .values(
      sent.map((row) => {
        const { type, text, templateId, media } = texts.get(row.message_id) ?? unknownContent
        return {
          id: row.message_id,
          conversation_id: conversationId,
          direction: 'outbound',
          source: toMessageSource(row.source),
          type,
          text,
          media: media && JSON.stringify(media),
          officialapi_template_id: templateId,
          status: row.status,
          error_code: row.failure_code,
          error_message: row.failure_code && 'The message did not arrive',
          provider_message_id: row.provider_message_id,
          occurred_at: row.sent_at,
          sent_at: row.sent_at,
          delivered_at: row.delivered_at,
          read_at: row.read_at,
          failed_at: row.failed_at,
          created_at: now,
          updated_at: now,
        }
      }),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await addWords(
    ctx,
    conversationId,
    sent.map(({ message_id: id }) => ({ id, text: texts.get(id)?.text ?? null })),
  )
  await ctx.db
    .updateTable('conversations')
    .set({ message_count: sent.length })
    .where('id', '=', conversationId)
    .execute()
}
