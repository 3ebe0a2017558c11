/** What a platform tells us: its signature checked, then stored and applied by its job. */
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { EcommercePort } from '#runtime/ports/ecommerce/port'
import { Refused } from '#runtime/ports/errors'
import type { ProviderEvent } from '#runtime/ports/provider'
import { isId } from '#runtime/values/ids'
import { accept } from '../provider-events/accept.ts'
import { ecommerce, webhookSecrets } from './connections.ts'

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
    const own = connected.port.webhookSecret?.(connected.store)
    const secrets = own === undefined ? webhookSecrets(store, connected.provider) : [own]
    events = parsed(connected.port, headers, body, secrets)
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

/** By the first secret that fits; refuses as the newest does. */
function parsed(
  port: EcommercePort,
  headers: Headers,
  body: Uint8Array,
  [newest, ...older]: readonly string[],
): ProviderEvent[] {
  try {
    return port.parseWebhook(headers, body, newest!)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    for (const secret of older) {
      try {
        return port.parseWebhook(headers, body, secret)
      } catch (again) {
        if (!(again instanceof Refused)) throw again
      }
    }
    throw error
  }
}
