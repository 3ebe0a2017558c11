/** Erases a person: deletes the contact and the conversation with its files, notes and tags. */
import { outbox } from '#operations/messaging/index'
import { belongsToSubject, type DataSubject, type ErasureHandler, files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { teamMessages } from '../sending/outbox-source.ts'
import { buildSearchText } from '../words.ts'

export const conversationErasure: ErasureHandler = {
  async stop(ctx, person) {
    const messages = await findMessages(ctx, person)
    await outbox.endForErasure(
      ctx,
      teamMessages,
      messages.flatMap(({ id, status }) => (status === 'queued' ? id : [])),
    )
  },
  async erase(ctx, person) {
    for (const { id, media } of await findMessages(ctx, person)) {
      if (media !== null) await files.setUses(ctx, `inbox-message:${id}`, [])
    }
    await ctx.db
      .deleteFrom('contacts')
      .where(belongsToSubject(person, { phoneKey: 'phone_key' }))
      .execute()
  },
}

async function findMessages(ctx: Context, person: DataSubject) {
  const conversations = await ctx.db
    .selectFrom('contacts as k')
    .innerJoin('conversations as c', 'c.contact_id', 'k.id')
    .select('c.id')
    .where(belongsToSubject(person, { phoneKey: 'k.phone_key' }))
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

/**
 * Removes the names that were copied from orders, after the shop was uninstalled. Keeps messages, and names that people
 * gave themselves: they belong to the merchant, not to the shop.
 */
export async function eraseOrderNames(ctx: Context): Promise<void> {
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
        search_text: buildSearchText([given ?? profile, profile]),
        updated_at: ctx.now(),
      })
      .where('id', '=', id)
      .execute()
  }
}
