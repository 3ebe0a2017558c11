/** Receives all callbacks of messaging providers, including the sandbox's. */

import { sql } from 'kysely'
import { findStoreIds, isInStores } from '#db/lookup-index/find'
import { events } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { ProviderEvent } from '#runtime/ports/provider'

/**
 * Stores the changes of a signed body, each for the store of its number. Refuses an unknown provider, a wrong signature
 * (before reading the body) and a malformed body.
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
  const parsed = readEvents(ctx, () => port.parseEvents(body))
  const stores = await findNumberStores(
    ctx,
    parsed.flatMap((event) => event.storeRef ?? []),
  )
  await events.accept(
    ctx,
    'messaging',
    provider,
    parsed.map((event) => ({ ...event, storeId: stores.get(event.storeRef ?? '') ?? null })),
  )
}

function readEvents(ctx: SystemContext, parse: () => ProviderEvent[]): ProviderEvent[] {
  try {
    return parse()
  } catch (error) {
    ctx.log.warn({ err: error }, 'signed webhook unreadable')
    throw refuse('bad_request', 'body: is not of the form that was agreed')
  }
}

/** Maps number ids to stores, without the shared number: the store of its events is found when they are applied. */
async function findNumberStores(ctx: SystemContext, numberIds: string[]): Promise<Map<string, string>> {
  if (numberIds.length === 0) return new Map()
  const rows = await ctx.root
    .selectFrom('messaging_connections')
    .select(['number_id', 'store_id'])
    .where(sql<boolean>`number_id = any(${[...new Set(numberIds)]}::text[])`)
    .where('type', '<>', 'shared')
    .where(isInStores('store_id', await findStoreIds(ctx.root, 'messaging-number', numberIds)))
    // For a number that moved to another store, the last entry of the map wins.
    .orderBy(sql`status = 'connected'`)
    .orderBy('connected_at', (order) => order.asc().nullsFirst())
    .execute()
  return new Map(rows.map((row) => [row.number_id!, row.store_id]))
}
