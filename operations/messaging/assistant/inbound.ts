/** Inbound messages to the assistant. */

import type { events } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { chatAgentReply } from '../handles.ts'
import type { InboundData } from '../provider/hook-body.ts'
import { listAssistantNumbers } from './numbers.ts'

type StoredEvent = events.StoredEvent

export const isForAssistant = (ctx: SystemContext, { storeRef }: StoredEvent): boolean =>
  listAssistantNumbers(ctx).has(storeRef ?? '')

/** Queues one job per message, deduplicated by the message's id. Maps every event to null: it belongs to no store. */
export async function queueReplies(
  ctx: SystemContext,
  stored: readonly StoredEvent[],
): Promise<ReadonlyMap<string, null>> {
  for (const { key, data, occurredAt } of stored) {
    const { phone, text, providerMessageId } = data as Partial<InboundData>
    if (!phone || !providerMessageId || !key.startsWith('inbound:')) continue
    await ctx.queue(chatAgentReply, {
      inboundId: providerMessageId,
      phone,
      text: text ?? '',
      at: occurredAt.toISOString(),
    })
  }
  return new Map(stored.map(({ id }) => [id, null]))
}
