/** Who wrote to the store and wants to be forgotten: the conversation goes, with its files, notes and tags. */
import { outbox } from '#operations/messaging/door'
import { type Forgets, type Forgotten, files, isTheirs } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { teamMessages } from '../sending/lane.ts'
import { searchTextOf } from '../words.ts'

export const forgetsConversations: Forgets = {
  async stop(ctx, person) {
    const messages = await messagesOf(ctx, person)
    await outbox.endForgotten(
      ctx,
      teamMessages,
      messages.flatMap(({ id, status }) => (status === 'queued' ? id : [])),
    )
  },
  async forget(ctx, person) {
    for (const { id, media } of await messagesOf(ctx, person)) {
      if (media !== null) await files.setUses(ctx, `inbox-message:${id}`, [])
    }
    await ctx.db
      .deleteFrom('contacts')
      .where(isTheirs(person, { phoneKey: 'phone_key' }))
      .execute()
  },
}

async function messagesOf(ctx: Context, person: Forgotten) {
  const conversations = await ctx.db
    .selectFrom('contacts as k')
    .innerJoin('conversations as c', 'c.contact_id', 'k.id')
    .select('c.id')
    .where(isTheirs(person, { phoneKey: 'k.phone_key' }))
    .execute()
  return ctx.db
    .selectFrom('inbox_messages')
    .select(['id', 'status', 'media'])
    .where(
      isAmong(
        'conversation_id',
        conversations.map(({ id }) => id),
        'uuid',
      ),
    )
    .orderBy('id')
    .execute()
}

/** Names that came with the orders of a shop that left; what people wrote, and the names that they gave, are the merchant's. */
export async function forgetOrderNames(ctx: Context): Promise<void> {
  const contacts = await ctx.db
    .selectFrom('contacts')
    .select(['id', 'given_name', 'profile_name'])
    .where('order_name', 'is not', null)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  for (const { id, given_name: given, profile_name: profile } of contacts) {
    await ctx.db
      .updateTable('contacts')
      .set({
        order_name: null,
        search_text: searchTextOf([given ?? profile, profile]),
        updated_at: ctx.now(),
      })
      .where('id', '=', id)
      .execute()
  }
}
