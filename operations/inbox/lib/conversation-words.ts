/** The words of a conversation's messages, for the search of one word. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { wordsOf } from './words.ts'

/** In the transaction that writes the messages. */
export async function addWords(
  ctx: Context,
  conversationId: string,
  texts: readonly (string | null)[],
): Promise<void> {
  // Always in one order, so that two who add the same words wait for each other and do not lock up.
  const words = [...new Set(texts.flatMap(wordsOf))].sort()
  if (words.length === 0) return
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
