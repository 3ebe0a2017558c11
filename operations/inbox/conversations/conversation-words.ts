/**
 * Maintains the search index of the words in messages. It has separate tables with short rows, because a search may
 * read tens of thousands of them.
 */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { extractWords } from '../words.ts'

/** Removes a message's words from the index. The conversation keeps a word that another of its messages contains. */
export async function removeWords(ctx: Context, conversationId: string, messageId: string): Promise<void> {
  const [removed] = await ctx.db
    .deleteFrom('inbox_message_words')
    .where('message_id', '=', messageId)
    .returning(sql<string[]>`tsvector_to_array(words)`.as('words'))
    .execute()
  if (!removed) return
  await ctx.db
    .deleteFrom('inbox_conversation_words')
    .where('conversation_id', '=', conversationId)
    .where('word', '=', sql<string>`any(${removed.words}::text[])`)
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

/** Adds the words of messages to the index, in the transaction that writes the messages. */
export async function addWords(
  ctx: Context,
  conversationId: string,
  messages: readonly { id: string; text?: string | null }[],
): Promise<void> {
  const rows = messages
    .map(({ id, text }) => ({ id, words: extractWords(text ?? null) }))
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
  // Sorted to prevent deadlocks between transactions that insert the same words.
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
