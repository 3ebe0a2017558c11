/** The words of messages, apart from the messages: a search reads these rows by the ten thousand, and they are short. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { wordsOf } from '../words.ts'

/** Of a message that says something else now: words that no other message of the conversation has are not found any more. */
export async function dropWords(ctx: Context, conversationId: string, messageId: string): Promise<void> {
  const [gone] = await ctx.db
    .deleteFrom('inbox_message_words')
    .where('message_id', '=', messageId)
    .returning(sql<string[]>`tsvector_to_array(words)`.as('words'))
    .execute()
  if (!gone) return
  await ctx.db
    .deleteFrom('inbox_conversation_words')
    .where('conversation_id', '=', conversationId)
    .where('word', '=', sql<string>`any(${gone.words}::text[])`)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('inbox_message_words as w')
            .select('w.message_id')
            .where('w.conversation_id', '=', conversationId)
            .where(sql<boolean>`tsvector_to_array(w.words) @> array[inbox_conversation_words.word]`),
        ),
      ),
    )
    .execute()
}

/** In the transaction that writes the messages. */
export async function addWords(
  ctx: Context,
  conversationId: string,
  messages: readonly { id: string; text?: string | null }[],
): Promise<void> {
  const rows = messages
    .map(({ id, text }) => ({ id, words: wordsOf(text ?? null) }))
    .filter((row) => row.words.length > 0)
  if (rows.length === 0) return
  await ctx.db
    .insertInto('inbox_message_words')
    .values(
      rows.map(({ id, words }) => ({
        conversation_id: conversationId,
        message_id: id,
        words: sql<string>`array_to_tsvector(${words}::text[])`,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  // Always in one order, so that two who add the same words wait for each other and do not lock up.
  const words = [...new Set(rows.flatMap((row) => row.words))].sort()
  await ctx.db
    .insertInto('inbox_conversation_words')
    .columns(['word', 'conversation_id'])
    .expression((db) =>
      db
        .selectFrom(sql<{ word: string }>`unnest(${words}::text[])`.as(sql`w(word)`))
        .select(['w.word', sql<string>`${conversationId}::uuid`.as('conversation_id')]),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
