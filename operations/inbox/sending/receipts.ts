/** The contact sees that what they wrote was read, where the provider can say so. */
import { routeOfType } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'

/** Up to the newest message that came in; best effort. */
export async function sendReceipt(ctx: Context, conversationId: string): Promise<void> {
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
  const route = await routeOfType(ctx, 'official')
  if (!route?.isConnected) return
  try {
    await route.port.markRead(route.store, { providerMessageId: newest.provider_message_id })
  } catch (error) {
    // Too old, or gone at the provider: another try would end the same way.
    if (!(error instanceof Refused)) throw error
    ctx.log.info({ err: error, conversationId }, 'the provider took no receipt')
  }
}
