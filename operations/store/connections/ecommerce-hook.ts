/** Receives webhooks of ecommerce platforms: checks the signature and stores the events. A job applies the events later. */

import { buildProviderKey } from '#db/lookup-index/definitions'
import { findStoreIds, isInStores } from '#db/lookup-index/find'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { AccessLost, Refused } from '#runtime/ports/errors'
import type { ProviderEvent, ProviderStore } from '#runtime/ports/provider'
import { isId } from '#runtime/values/ids'
import type { EcommercePort } from '../ecommerce/port.ts'
import { accept } from '../provider-events/accept.ts'
import { type Connected, findEcommerce, webhookSecrets } from './connections.ts'

/** Returns the number of stored events. Refuses an unknown store or platform (404) and a wrong signature (401). */
export async function receiveEcommerceHook(
  ctx: SystemContext,
  from: { provider: string; storeId: string },
  headers: Headers,
  body: Uint8Array,
): Promise<number> {
  const store = isId(from.storeId) ? await ctx.forStore(from.storeId) : null
  const connected = store && (await findEcommerce(store))
  if (!store || !connected || connected.provider !== from.provider) {
    throw refuse('not_found', 'No store is connected to this platform here')
  }
  let events: ProviderEvent[]
  try {
    const own = connected.port.webhookSecret?.(connected.store)
    const secrets = own === undefined ? webhookSecrets(store, connected.provider) : [own]
    events = parseWithSecrets(connected.port, headers, body, secrets)
  } catch (error) {
    if (error instanceof Refused) throw refuse('unauthorized', error.message)
    throw error
  }
  const own = await dropStaleUninstalls(ctx, connected, events)
  await accept(
    ctx,
    'ecommerce',
    connected.provider,
    own.map((event) => ({ ...event, storeId: store.store.id })),
  )
  return own.length
}

/**
 * Drops an `app.uninstalled` event of a shop to which the store was connected earlier. Its signature is valid if both shops
 * installed the server's app. Other events of that shop are harmless: they only trigger a re-read from the current shop.
 * Also drops one without its own time while the access works: the platform repeats it after the shop was connected again.
 */
async function dropStaleUninstalls(
  { root }: SystemContext,
  { port, store }: Connected<EcommercePort>,
  events: readonly ProviderEvent[],
): Promise<ProviderEvent[]> {
  const isRemoval = ({ kind }: ProviderEvent): boolean => kind === 'app.uninstalled'
  if (!events.some(isRemoval)) return [...events]
  const { platform_store_id: shopId } = await root
    .selectFrom('stores')
    .select('platform_store_id')
    .where('id', '=', store.id)
    .executeTakeFirstOrThrow()
  const own = events.filter((event) => !isRemoval(event) || (event.data as { id?: unknown }).id === shopId)
  const isStale = port.hasUndatedEvents && own.some(isRemoval) && (await hasAccess(port, store))
  return isStale ? own.filter((event) => !isRemoval(event)) : own
}

async function hasAccess(port: EcommercePort, store: ProviderStore): Promise<boolean> {
  try {
    await port.check(store)
    return true
  } catch (error) {
    if (error instanceof Refused || error instanceof AccessLost) return false
    throw error
  }
}

/**
 * Receives a webhook sent to the server's app about a shop; the shop may have removed the app already. Returns the number
 * of events, 0 if the shop belongs to no store. Refuses an unknown platform (404) and a wrong signature (401).
 */
export async function receiveAppHook(
  ctx: SystemContext,
  provider: string,
  headers: Headers,
  body: Uint8Array,
): Promise<number> {
  const { ecommerce: adapters } = ctx.adapters
  const flow = Object.hasOwn(adapters, provider) ? adapters[provider]!.install : undefined
  if (!flow) throw refuse('not_found', 'This server has no app there')
  let parsed: ReturnType<typeof flow.hook>
  try {
    parsed = flow.hook(headers, body)
  } catch (error) {
    if (error instanceof Refused) throw refuse('unauthorized', error.message)
    throw error
  }
  // Includes stores that were connected to the shop earlier, because they still have data of its shoppers.
  const stores = await ctx.root
    .selectFrom('stores')
    .select('id')
    .where('platform', '=', provider)
    .where('platform_store_id', '=', parsed.shopId)
    .where(
      isInStores(
        'id',
        await findStoreIds(ctx.root, 'platform-store', [buildProviderKey(provider, parsed.shopId)]),
      ),
    )
    .execute()
  const events = stores.flatMap(({ id: storeId }) =>
    parsed.events.map((event) => ({
      ...event,
      storeId,
      key: stores.length === 1 ? event.key : `${event.key}:${storeId}`,
    })),
  )
  await accept(ctx, 'ecommerce', provider, events)
  return events.length
}

/** Parses the webhook with the first secret that matches. If none matches, throws the error of the newest secret. */
function parseWithSecrets(
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
