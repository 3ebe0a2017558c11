import { type Context, SystemContext } from '#runtime/context'
import type { ProviderEvent } from '#runtime/ports/provider'
import { accept } from './accept.ts'
import { applyEvents } from './apply.ts'

/** Stores what a provider answered when it was asked about the store, and applies what is new of it. */
export async function takeEvents(
  ctx: Context,
  port: string,
  provider: string,
  told: readonly ProviderEvent[],
): Promise<void> {
  if (told.length === 0) return
  const system = new SystemContext(ctx.services, ctx.log, ctx.actor.requestId)
  const incoming = told.map((event) => ({ ...event, storeId: ctx.store.id }))
  await accept(system, port, provider, incoming)
  const keys = told.map((event) => event.key)
  await applyEvents(system, port, provider, keys)
}
