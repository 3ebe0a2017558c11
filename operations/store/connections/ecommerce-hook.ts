/** What a platform tells us: its signature checked, then stored and applied by its job. */
import { amongStores, storesListed } from '#db/directory/find'
import { providersKey } from '#db/directory/listed'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import type { ProviderEvent } from '#runtime/ports/provider'
import { isId } from '#runtime/values/ids'
import type { EcommercePort } from '../ecommerce/port.ts'
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
  const own = await ofTheirShop(ctx, store.store.id, events)
  await accept(
    ctx,
    'ecommerce',
    connected.provider,
    own.map((event) => ({ ...event, storeId: store.store.id })),
  )
  return own.length
}

/**
 * A shop that the store was connected to before tells us still, with the same signature where both installed the server's
 * app: that the app was removed there ends nothing here. All else names what is read anew, of the shop of now.
 */
async function ofTheirShop(
  { root }: SystemContext,
  storeId: string,
  events: readonly ProviderEvent[],
): Promise<ProviderEvent[]> {
  const isRemoval = ({ kind }: ProviderEvent): boolean => kind === 'app.uninstalled'
  if (!events.some(isRemoval)) return [...events]
  const { platform_store_id: shopId } = await root
    .selectFrom('stores')
    .select('platform_store_id')
    .where('id', '=', storeId)
    .executeTakeFirstOrThrow()
  return events.filter((event) => !isRemoval(event) || (event.data as { id?: unknown }).id === shopId)
}

/**
 * What a platform tells the server's app of one of its shops, which may have removed it already. Answers how many events
 * came in: none for a shop that is no store of ours. Refuses as above.
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
  let told: ReturnType<typeof flow.hook>
  try {
    told = flow.hook(headers, body)
  } catch (error) {
    if (error instanceof Refused) throw refuse('unauthorized', error.message)
    throw error
  }
  // One that had the shop before has its shoppers still.
  const stores = await ctx.root
    .selectFrom('stores')
    .select('id')
    .where('platform', '=', provider)
    .where('platform_store_id', '=', told.shopId)
    .where(
      amongStores(
        'id',
        await storesListed(ctx.root, 'platform-store', [providersKey(provider, told.shopId)]),
      ),
    )
    .execute()
  const events = stores.flatMap(({ id: storeId }) =>
    told.events.map((event) => ({
      ...event,
      storeId,
      key: stores.length === 1 ? event.key : `${event.key}:${storeId}`,
    })),
  )
  await accept(ctx, 'ecommerce', provider, events)
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
