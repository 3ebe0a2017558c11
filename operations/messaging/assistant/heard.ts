/** What merchants write to the assistant. */

import type { events } from '#operations/store/door'
import type { SystemContext } from '#runtime/context'
import { chatAgentReply } from '../handles.ts'
import type { InboundData } from '../provider/hook-body.ts'
import { assistantNumbers } from './numbers.ts'

type StoredEvent = events.StoredEvent

export const isForAssistant = (ctx: SystemContext, { storeRef }: StoredEvent): boolean =>
  assistantNumbers(ctx).has(storeRef ?? '')

/** A job each, which knows one inbound message once; no event is any store's. */
export async function hear(
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
