/** Connects a store to its providers, and reads its connections. Credentials are stored encrypted. */

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
  /** The `store` argument of the adapter's methods, with decrypted credentials. */
  store: ProviderStore
  provider: string
  /** Identifies the connection: a reconnection gets a new instant. */
  connectedAt: Date
}

export type ConnectionPort = 'ecommerce' | 'mailingList'

const topics: readonly WebhookTopic[] = ['order.updated', 'cart.updated', 'product.updated', 'stock.updated']

const queryConnection = prepared<{ port: string }, ConnectionRow>((db, values) =>
  db
    .selectFrom('connections as c')
    .select(['c.provider', 'c.credentials', 'c.settings', 'c.connected_at'])
    // Read in the same query, because the instrumentation of provider calls must record a success of an unhealthy connection.
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

/** When the store connected to a provider of the port; undefined if nothing is connected. */
export async function readConnectedSince(tx: Context, port: ConnectionPort): Promise<Date | undefined> {
  const row = await tx.db
    .selectFrom('connections')
    .select('connected_at')
    .where('port', '=', port)
    .executeTakeFirst()
  return row?.connected_at ?? undefined
}

/** The name of the provider that the store has connected for a port, or null. */
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

/** Builds the function with which an adapter renews expiring credentials of this connection. */
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

/** The link where the shop's owner activates our storefront extension; null if the platform needs no activation. */
export async function findActivationLink(ctx: Context): Promise<string | null> {
  const connected = await findEcommerce(ctx)
  return (await connected?.port.activationLink?.(connected.store)) ?? null
}

/**
 * Stores with a working connection to an ecommerce platform, for scheduled syncs. Stores whose connection is lost are left
 * out until a probe finds that it has recovered.
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

/** Stores that are connected to a provider of the port. */
export const storesConnectedTo =
  (port: ConnectionPort) =>
  ({ root }: SystemContext) =>
    root
      .selectFrom('connections')
      .select('store_id')
      .where('port', '=', port)
      .where('connected_at', 'is not', null)

/** Like `findEcommerce`, but refuses with `conflict` if no platform is connected. */
export async function requireEcommerce(ctx: Context): Promise<Connected<EcommercePort>> {
  const connected = await findEcommerce(ctx)
  if (!connected)
    throw refuse('conflict', 'The store is not connected to an ecommerce platform: connect it first')
  return connected
}

/**
 * Connects the store to its ecommerce platform, replacing any previous connection. Checks the credentials and registers the
 * webhooks. Then one transaction stores the encrypted credentials, saves the shop's facts, queues the first `orders-sync`
 * and runs the `platformConnected` hooks. Must not be called inside a transaction. Refuses an unknown provider, invalid
 * credentials, and a shop that belongs to another store.
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

/** Upserts a port's connection and encrypts its credentials. Runs in the caller's transaction. */
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

/** Ends a connection and deletes its credentials. Refuses with `conflict` if the port is not connected. */
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
 * Registers webhooks at the platform, by default for all topics. Existing webhooks stay. Returns whether any was missing.
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

/** The signing secret of the store's webhooks. A reconnection does not change it, so no webhook is lost. */
const webhookSecret = (ctx: Context, provider: string): string => webhookSecrets(ctx, provider)[0]!

/**
 * The current signing secret, and after a change of the server's key the previous one: the platform uses the previous secret
 * until the webhooks are registered again.
 */
export const webhookSecrets = (ctx: Context, provider: string): string[] =>
  listValidSignatures(ctx.settings, 'ecommerce-webhooks', `${ctx.store.id}:${provider}`)

const findAdapter = <Port extends keyof SectionPorts>(ctx: Context, port: Port, provider: string) => {
  const adapters = ctx.adapters[port] as Readonly<Record<string, SectionPorts[Port]>>
  return Object.hasOwn(adapters, provider) ? adapters[provider]! : null
}

/** The adapter for a stored provider name; throws if this server has no such adapter. */
export function requireAdapter<Port extends keyof SectionPorts>(ctx: Context, port: Port, provider: string) {
  const adapter = findAdapter(ctx, port, provider)
  if (!adapter) throw new Error(`No adapter of this server is named ${provider}`)
  return adapter
}

/** The adapter for a provider named in a request; refuses an unknown name with `bad_request`. */
export function requireNamedAdapter<Port extends keyof SectionPorts>(
  ctx: Context,
  port: Port,
  provider: string,
) {
  const adapter = findAdapter(ctx, port, provider)
  if (adapter) return adapter
  const known = Object.keys(ctx.adapters[port]).join(', ')
  throw refuse('bad_request', `provider: ${provider} is unknown to this server: choose one of ${known}`)
}

const sealContext = (ctx: Context, port: ConnectionPort): string => `${ctx.store.id}:${port}`

type Shop = Awaited<ReturnType<EcommercePort['check']>>

const checkCredentials = (port: EcommercePort, store: ProviderStore): Promise<Shop> =>
  refusedAsBadCredentials(port.check(store))

/** Turns a provider's rejection of credentials from a request into a `bad_request`. */
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

/** Removes the domain from a disconnected store. Called when this store has proved that it owns the shop. */
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

/** The sync progress of one kind of platform data, such as `orders`; undefined if this connection never synced it. */
export async function readProgress<T>(ctx: Context, mirror: string): Promise<T | undefined> {
  const row = await ctx.db
    .selectFrom('connections')
    .select('settings')
    .where('port', '=', 'ecommerce')
    .executeTakeFirst()
  return (row?.settings as Record<string, T> | undefined)?.[mirror]
}

/** The sync progress of all kinds of platform data; null if no platform is connected. */
export async function readAllProgress(ctx: Context): Promise<Readonly<Record<string, unknown>> | null> {
  const [row] = await queryConnection(ctx, { port: 'ecommerce' })
  return row ? ((row.settings ?? {}) as Record<string, unknown>) : null
}

/**
 * Saves sync progress in the transaction that writes the synced rows. Throws if the store has been reconnected, which rolls
 * back the rows too.
 */
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
