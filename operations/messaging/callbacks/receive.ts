/** The one door of a messaging provider's callbacks: real ones and the sandbox's. */

import { sql } from 'kysely'
import { amongStores, storesListed } from '#db/directory/find'
import { events } from '#operations/store/door'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { ProviderEvent } from '#runtime/ports/provider'

/**
 * Stores the changes of a signed body, each for the store of its number. Refuses an unknown provider, a wrong signature
 * (nothing is read then) and a body of another form.
 */
export async function receiveHook(
  ctx: SystemContext,
  provider: string,
  headers: Headers,
  body: Uint8Array,
): Promise<void> {
  const port = Object.hasOwn(ctx.adapters.messaging, provider) ? ctx.adapters.messaging[provider] : undefined
  if (!port) throw refuse('not_found', 'No such provider')
  if (!port.verifySignature(headers, body)) throw refuse('unauthorized', 'The signature is missing or wrong')
  const told = readEvents(ctx, () => port.parseEvents(body))
  const stores = await storesOfNumbers(
    ctx,
    told.flatMap((event) => event.storeRef ?? []),
  )
  await events.accept(
    ctx,
    'messaging',
    provider,
    told.map((event) => ({ ...event, storeId: stores.get(event.storeRef ?? '') ?? null })),
  )
}

function readEvents(ctx: SystemContext, parse: () => ProviderEvent[]): ProviderEvent[] {
  try {
    return parse()
  } catch (error) {
    ctx.log.warn({ err: error }, 'a signed hook could not be read')
    throw refuse('bad_request', 'body: is not of the form that was agreed')
  }
}

/** Numbers that belong to one store; the shared number's events find theirs when they are applied. */
async function storesOfNumbers(ctx: SystemContext, numberIds: string[]): Promise<Map<string, string>> {
  if (numberIds.length === 0) return new Map()
  const rows = await ctx.root
    .selectFrom('messaging_connections')
    .select(['number_id', 'store_id'])
    .where(sql<boolean>`number_id = any(${[...new Set(numberIds)]}::text[])`)
    .where('type', '<>', 'shared')
    .where(amongStores('store_id', await storesListed(ctx.root, 'messaging-number', numberIds)))
    // A number that moved to another store: the last one in the map is the one that holds.
    .orderBy(sql`status = 'connected'`)
    .orderBy('connected_at', (order) => order.asc().nullsFirst())
    .execute()
  return new Map(rows.map((row) => [row.number_id!, row.store_id]))
}
