import { type Context, SystemContext } from '#runtime/context'
import type { ProviderEvent } from '#runtime/ports/provider'
import { accept } from './accept.ts'
import { applyEvents } from './apply.ts'

/** Stores events that were fetched from a provider for a store, and applies the new events at once. */
export async function ingestEvents(
  ctx: Context,
  port: string,
  provider: string,
  events: readonly ProviderEvent[],
): Promise<void> {
  if (events.length === 0) return
  const system = new SystemContext(ctx.services, ctx.log, ctx.actor.requestId)
  const incoming = events.map((event) => ({ ...event, storeId: ctx.store.id }))
  await accept(system, port, provider, incoming)
  const keys = events.map((event) => event.key)
  await applyEvents(system, port, provider, keys)
}
