/** Connections of a store to its providers, with sealed credentials. */

import { sql } from 'kysely'
import { findStoreIds, isInStores } from '#db/lookup-index/find'
import type { Context, SystemContext } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuseDuplicate } from '#runtime/database/rows'
import { isSameInstant } from '#runtime/database/sql'
import { refuse } from '#runtime/errors'
import { AccessLost, Refused } from '#runtime/ports/errors'
import type { SectionPorts } from '#runtime/ports/ports'
import type { ProviderStore } from '#runtime/ports/provider'
import { listValidSignatures, seal, unseal } from '#runtime/secrets'
import type { EcommercePort, WebhookTopic } from '../ecommerce/port.ts'
import { ordersSync } from '../handles.ts'
import { isUnhealthySql } from '../health/health-rows.ts'
import { applyHealthEvent } from '../health/record-outcome.ts'
import { renewCredentials } from './renewal.ts'

export interface Connected<Port> {
  port: Port
  /** The adapter's argument, with unsealed credentials. */
  store: ProviderStore
  provider: string
  /** Identifies the connection: a reconnection has another instant. */
  connectedAt: Date
}

export type ConnectionPort = 'ecommerce' | 'mailingList'

const topics: readonly WebhookTopic[] = ['order.updated', 'cart.updated', 'product.updated', 'stock.updated']

const queryConnection = prepared<{ port: string }, ConnectionRow>((db, values) =>
  db
    .selectFrom('connections as c')
    .select(['c.provider', 'c.credentials', 'c.settings', 'c.connected_at'])
    // In the same query: the caller of the provider must know whether a success has to be recorded.
    .select(isUnhealthySql(db, 'c.port', '').as('is_unhealthy'))
    .where('c.port', '=', values.port)
    .where('c.connected_at', 'is not', null),
)

interface ConnectionRow {
  provider: string
  credentials: string | null
  settings: unknown
  connected_at: Date | null
  is_unhealthy: boolean
}

/** The store's connection of a port and its adapter; null if nothing is connected. */
export async function findConnection<Port extends ConnectionPort>(
  ctx: Context,
  port: Port,
): Promise<(Connected<SectionPorts[Port]> & { settings: unknown }) | null> {
  const [row] = await queryConnection(ctx, { port })
  if (!row?.connected_at) return null
  return {
    port: requireAdapter(ctx, port, row.provider),
    store: toProviderStore(ctx, port, row),
    provider: row.provider,
    connectedAt: row.connected_at,
    settings: row.settings,
  }
}

/** When the port was connected; undefined if nothing is connected. */
export async function readConnectedSince(tx: Context, port: ConnectionPort): Promise<Date | undefined> {
  const row = await tx.db
    .selectFrom('connections')
    .select('connected_at')
    .where('port', '=', port)
    .executeTakeFirst()
  return row?.connected_at ?? undefined
}

/** The provider to which a port is connected, or null. */
export async function findProvider(ctx: Context, port: keyof SectionPorts): Promise<string | null> {
  const [row] = await queryConnection(ctx, { port })
  return row?.provider ?? null
}

/** The store's ecommerce platform; null if none is connected. */
export async function findEcommerce(ctx: Context): Promise<Connected<EcommercePort> | null> {
  const found = await findConnection(ctx, 'ecommerce')
  return (
    found && { ...found, store: { ...found.store, renew: buildRenew(ctx, 'ecommerce', found.connectedAt) } }
  )
}

/** Renews expiring credentials of this connection and stores them. */
const buildRenew =
  (ctx: Context, port: ConnectionPort, connectedAt: Date): NonNullable<ProviderStore['renew']> =>
  (change) => {
    const context = sealContext(ctx, port)
    const sealed = {
      port,
      connectedAt,
      open: (sealed: string) => unseal(ctx.settings, context, sealed),
      seal: (credentials: unknown) => seal(ctx.settings, context, credentials),
    }
    return renewCredentials(ctx, sealed, change)
  }

const toProviderStore = (ctx: Context, port: ConnectionPort, row: ConnectionRow): ProviderStore => {
  const { credentials, connected_at: connectedAt, is_unhealthy: isUnhealthy } = row
  return {
    id: ctx.store.id,
    credentials: credentials === null ? null : unseal(ctx.settings, sealContext(ctx, port), credentials),
    connection: { port, part: '', connectedAt, isFailing: isUnhealthy },
  }
}

/** The link where the shop's owner activates our storefront extension; null if the platform needs none. */
export async function findActivationLink(ctx: Context): Promise<string | null> {
  const connected = await findEcommerce(ctx)
  return (await connected?.port.activationLink?.(connected.store)) ?? null
}

/**
 * Stores with a working connection to an ecommerce platform, for scheduled syncs. Lost connections are left out: they are
 * probed, and synced again once they recover.
 */
export const connectedStores = ({ root }: SystemContext) =>
  root
    .selectFrom('connections as c')
    .select('c.store_id')
    .where('c.port', '=', 'ecommerce')
    .where('c.connected_at', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('connection_health as h')
            .select('h.port')
            .whereRef('h.store_id', '=', 'c.store_id')
            .whereRef('h.port', '=', 'c.port')
            .where('h.part', '=', '')
            .where('h.state', '=', 'lost')
            .where(sql<boolean>`h.connected_at is not distinct from c.connected_at`),
        ),
      ),
    )

/** Stores with a connection of the port. */
export const storesConnectedTo =
  (port: ConnectionPort) =>
  ({ root }: SystemContext) =>
    root
      .selectFrom('connections')
      .select('store_id')
      .where('port', '=', port)
      .where('connected_at', 'is not', null)

/** As `findEcommerce`, but refuses with `conflict` if none is connected. */
export async function requireEcommerce(ctx: Context): Promise<Connected<EcommercePort>> {
  const connected = await findEcommerce(ctx)
  if (!connected)
    throw refuse('conflict', 'The store is not connected to an ecommerce platform: connect it first')
  return connected
}

/**
 * Connects the store to its ecommerce platform, replacing any previous one. Checks the credentials, registers the
 * webhooks, and in one transaction seals the credentials, saves the shop's facts, queues the first `orders-sync` and runs
 * the `platformConnected` hooks. Not inside a transaction. Refuses an unknown provider, invalid credentials, and a shop
 * that belongs to another store.
 */
export async function connectEcommerce(ctx: Context, provider: string, credentials: unknown): Promise<void> {
  const port = requireNamedAdapter(ctx, 'ecommerce', provider)
  const store = { id: ctx.store.id, credentials }
  const shop = await checkCredentials(port, store)
  await registerWebhooks(ctx, { port, store, provider })
  await ctx.transaction(async (tx) => {
    await saveConnection(tx, 'ecommerce', provider, credentials ?? null, {})
    await saveShopFacts(tx, provider, shop)
    await tx.queue(ordersSync, {})
    for (const hook of tx.extensions.platformConnected) await hook(tx)
    await tx.afterCommit(() => tx.services.accessChanged(tx.store.id))
  })
}

/** Upserts a port's connection with sealed credentials. In the caller's transaction. */
export async function saveConnection(
  tx: Context,
  port: ConnectionPort,
  provider: string,
  credentials: unknown,
  settings: Record<string, unknown>,
): Promise<void> {
  const now = tx.now()
  const connection = {
    provider,
    credentials: seal(tx.settings, sealContext(tx, port), credentials),
    settings: JSON.stringify(settings),
    connected_at: now,
    updated_at: now,
  }
  await tx.db
    .insertInto('connections')
    .values({ port, ...connection, created_at: now })
    .onConflict((conflict) => conflict.columns(['store_id', 'port']).doUpdateSet(connection))
    .execute()
  await applyHealthEvent(tx, { port, part: '', provider, connectedAt: now }, { kind: 'connected' })
}

/** Deletes the credentials of a connection. Refuses if it is not connected. */
export async function disconnect(ctx: Context, port: ConnectionPort): Promise<void> {
  const [disconnected] = await ctx.db
    .updateTable('connections')
    .set({ credentials: null, connected_at: null, updated_at: ctx.now() })
    .where('port', '=', port)
    .where('connected_at', 'is not', null)
    .returning('port')
    .execute()
  if (!disconnected) throw refuse('conflict', `port: ${port} is not connected`)
}

/**
 * Registers webhooks at the platform, by default of all topics; existing ones stay. Returns whether one was missing.
 */
export async function registerWebhooks(
  ctx: Context,
  { port, store, provider }: Pick<Connected<EcommercePort>, 'port' | 'store' | 'provider'>,
  requested: readonly WebhookTopic[] = topics,
): Promise<boolean> {
  const url = `${ctx.settings.publicUrl}/hooks/ecommerce/${provider}/${ctx.store.id}`
  const secret = webhookSecret(ctx, provider)
  let wasMissing = false
  for (const topic of requested) {
    const { created } = await port.registerWebhook(store, { topic, url, secret })
    wasMissing ||= created
  }
  return wasMissing
}

/** The signing secret of the store's webhooks. It survives a reconnection, so no webhook is lost. */
const webhookSecret = (ctx: Context, provider: string): string => webhookSecrets(ctx, provider)[0]!

/** Includes the secret of the previous key, which the platform uses until the webhooks are registered again. */
export const webhookSecrets = (ctx: Context, provider: string): string[] =>
  listValidSignatures(ctx.settings, 'ecommerce-webhooks', `${ctx.store.id}:${provider}`)

const findAdapter = <Port extends keyof SectionPorts>(ctx: Context, port: Port, provider: string) => {
  const adapters = ctx.adapters[port] as Readonly<Record<string, SectionPorts[Port]>>
  return Object.hasOwn(adapters, provider) ? adapters[provider]! : null
}

/** The adapter of a connection row; throws if this server has none. */
export function requireAdapter<Port extends keyof SectionPorts>(ctx: Context, port: Port, provider: string) {
  const adapter = findAdapter(ctx, port, provider)
  if (!adapter) throw new Error(`No adapter of this server is named ${provider}`)
  return adapter
}

/** The adapter of a provider named by a caller; refuses an unknown one. */
export function requireNamedAdapter<Port extends keyof SectionPorts>(
  ctx: Context,
  port: Port,
  provider: string,
) {
  const adapter = findAdapter(ctx, port, provider)
  if (adapter) return adapter
  const known = Object.keys(ctx.adapters[port]).join(', ')
  throw refuse('bad_request', `provider: ${provider} is none of this server: one of ${known}`)
}

const sealContext = (ctx: Context, port: ConnectionPort): string => `${ctx.store.id}:${port}`

type Shop = Awaited<ReturnType<EcommercePort['check']>>

const checkCredentials = (port: EcommercePort, store: ProviderStore): Promise<Shop> =>
  refusedAsBadCredentials(port.check(store))

/** Turns a provider's rejection of given credentials into a `bad_request`. */
export async function refusedAsBadCredentials<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof Refused) throw refuse('bad_request', `credentials: ${error.message}`)
    if (error instanceof AccessLost) {
      throw refuse('bad_request', `credentials: ${error.message}: ${error.remedy}`)
    }
    throw error
  }
}

async function saveShopFacts(ctx: Context, provider: string, shop: Shop): Promise<void> {
  const { platformStoreId, domain, country, currency } = shop
  await releaseDomain(ctx, domain)
  const moved = ctx.db
    .updateTable('stores')
    .set({
      platform: provider,
      platform_store_id: platformStoreId,
      domain,
      country,
      currency,
      updated_at: ctx.now(),
    })
    .where(
      sql<boolean>`(platform, platform_store_id, domain, country, currency)
        is distinct from (${provider}, ${platformStoreId}, ${domain}, ${country}, ${currency})`,
    )
  const conflictMessage = `${domain} is connected to another store already`
  await refuseDuplicate('stores_domain_key', conflictMessage, () => moved.execute())
}

/** Takes the domain from a disconnected store, now that this store has proved that it owns the shop. */
async function releaseDomain(ctx: Context, domain: string): Promise<void> {
  const listed = await findStoreIds(ctx.system, 'store-domain', [domain])
  const others = listed.filter((id) => id !== ctx.store.id)
  if (others.length === 0) return
  await ctx.system
    .updateTable('stores')
    .set({ domain: sql<string>`id::text || '.example.com'`, updated_at: ctx.now() })
    .where('domain', '=', domain)
    .where(isInStores('id', others))
    .where('platform_store_id', 'not like', 'sandbox-%')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('connections as c')
            .select('c.port')
            .whereRef('c.store_id', '=', 'stores.id')
            .where('c.port', '=', 'ecommerce')
            .where('c.connected_at', 'is not', null),
        ),
      ),
    )
    .execute()
}

/** The sync progress of one synced copy (`mirror`) of platform data; undefined for a new connection. */
export async function readProgress<T>(ctx: Context, mirror: string): Promise<T | undefined> {
  const row = await ctx.db
    .selectFrom('connections')
    .select('settings')
    .where('port', '=', 'ecommerce')
    .executeTakeFirst()
  return (row?.settings as Record<string, T> | undefined)?.[mirror]
}

/** The progress of all syncs; null if no platform is connected. */
export async function readAllProgress(ctx: Context): Promise<Readonly<Record<string, unknown>> | null> {
  const [row] = await queryConnection(ctx, { port: 'ecommerce' })
  return row ? ((row.settings ?? {}) as Record<string, unknown>) : null
}

/** Saves progress in the transaction of the rows. Throws, which rolls both back, if the store has been reconnected. */
export async function saveProgress(
  ctx: Context,
  connectedAt: Date,
  known: Record<string, unknown>,
): Promise<void> {
  const moved = await ctx.db
    .updateTable('connections')
    .set({ settings: sql<string>`settings || ${JSON.stringify(known)}::jsonb` })
    .where('port', '=', 'ecommerce')
    .where(isSameInstant('connected_at', connectedAt))
    .returning('port')
    .execute()
  const [mirror] = Object.keys(known)
  if (moved.length === 0) throw new Error(`The store was reconnected while its ${mirror} were synced`)
}
