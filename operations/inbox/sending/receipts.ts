/** Sends read receipts, which show contacts that their message was read, if the provider supports them. */
import { findRouteByType } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'

/** Marks all messages up to the newest inbound message as read at the provider. A refusal of the provider is ignored. */
export async function sendReadReceipt(ctx: Context, conversationId: string): Promise<void> {
  const newest = await ctx.db
    .selectFrom('inbox_messages')
    .select('provider_message_id')
    .where('conversation_id', '=', conversationId)
    .where('direction', '=', 'inbound')
    .where('type', '<>', 'reaction')
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!newest?.provider_message_id) return
  const route = await findRouteByType(ctx, 'official')
  if (!route?.isConnected) return
  try {
    await route.port.markRead(route.store, { providerMessageId: newest.provider_message_id })
  } catch (error) {
    // `Refused`: the message is too old, or the provider no longer has it. A retry would fail too.
    if (!(error instanceof Refused)) throw error
    ctx.log.info({ err: error, conversationId }, 'read receipt refused by provider')
  }
}
