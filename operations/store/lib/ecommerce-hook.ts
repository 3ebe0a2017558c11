/** What a platform tells us: its signature checked, then stored and applied by its job. */
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { isId } from '#runtime/ids'
import { Refused } from '#runtime/ports/errors'
import type { ProviderEvent } from '#runtime/ports/provider'
import { ecommerce, webhookSecret } from './connections.ts'
import { accept } from './events.ts'

/** Answers how many events came in. Refuses an unknown store or platform (404) and a wrong signature (401). */
export async function receiveEcommerceHook(
  ctx: SystemContext,
  from: { provider: string; storeId: string },
  headers: Headers,
  body: Uint8Array,
): Promise<number> {
  const store = isId(from.storeId) ? await ctx.forStore(from.storeId) : null
  const connected = store && (await ecommerce(store))
  if (!store || !connected || connected.provider !== from.provider) {
    throw refuse('not_found', 'No store is connected to this platform here')
  }
  let events: ProviderEvent[]
  try {
    const secret = connected.port.webhookSecret?.(connected.store) ?? webhookSecret(store, connected.provider)
    events = connected.port.parseWebhook(headers, body, secret)
  } catch (error) {
    if (error instanceof Refused) throw refuse('unauthorized', error.message)
    throw error
  }
  await accept(
    ctx,
    'ecommerce',
    connected.provider,
    events.map((event) => ({ ...event, storeId: store.store.id })),
  )
  return events.length
}
