/** Connections of a store to its providers, credentials sealed. */

import { sql } from 'kysely'
import { amongStores, storesListed } from '#db/directory/find'
import type { Context, SystemContext } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { unlessTaken } from '#runtime/database/rows'
import { isInstant } from '#runtime/database/sql'
import { refuse } from '#runtime/errors'
import { AccessLost, Refused } from '#runtime/ports/errors'
import type { SectionPorts } from '#runtime/ports/ports'
import type { ProviderStore } from '#runtime/ports/provider'
import { seal, signaturesOf, unseal } from '#runtime/secrets'
import type { EcommercePort, WebhookTopic } from '../ecommerce/port.ts'
import { ordersSync } from '../handles.ts'
import { moveConnection } from '../health/hear.ts'
import { isTroubledSql } from '../health/rows.ts'
import { renewCredentials } from './renewal.ts'

export interface Connected<Port> {
  port: Port
  /** The store as the adapter takes it, credentials unsealed. */
  store: ProviderStore
  provider: string
  /** Another connection has another instant: what belongs to one connection is compared with it. */
  connectedAt: Date
}

export type ConnectionPort = 'ecommerce' | 'mailingList'

const topics: readonly WebhookTopic[] = ['order.updated', 'cart.updated', 'product.updated', 'stock.updated']

const connectionOf = prepared<{ port: string }, ConnectionRow>((db, values) =>
  db
    .selectFrom('connections as c')
    .select(['c.provider', 'c.credentials', 'c.settings', 'c.connected_at'])
    // With the row, as one question: whoever calls the provider knows whether an answer is news.
    .select(isTroubledSql(db, 'c.port', '').as('is_troubled'))
    .where('c.port', '=', values.port)
    .where('c.connected_at', 'is not', null),
)

interface ConnectionRow {
  provider: string
  credentials: string | null
  settings: unknown
  connected_at: Date | null
  is_troubled: boolean
}

/** The store's connection of a port with the adapter that it goes over, or null when nothing is connected. */
export async function connected<Port extends ConnectionPort>(
  ctx: Context,
  port: Port,
): Promise<(Connected<SectionPorts[Port]> & { settings: unknown }) | null> {
  const [row] = await connectionOf(ctx, { port })
  if (!row?.connected_at) return null
  return {
    port: requireAdapter(ctx, port, row.provider),
    store: unsealed(ctx, port, row),
    provider: row.provider,
    connectedAt: row.connected_at,
    settings: row.settings,
  }
}

/** Since when the port's connection is the one that it is; undefined where nothing is connected. */
export async function connectedSince(tx: Context, port: ConnectionPort): Promise<Date | undefined> {
  const row = await tx.db
    .selectFrom('connections')
    .select('connected_at')
    .where('port', '=', port)
    .executeTakeFirst()
  return row?.connected_at ?? undefined
}

/** The provider that the store's connection of a port names; null: none. */
export async function connectedProvider(ctx: Context, port: keyof SectionPorts): Promise<string | null> {
  const [row] = await connectionOf(ctx, { port })
  return row?.provider ?? null
}

/** The ecommerce platform of the store, or null when none is connected. */
export async function ecommerce(ctx: Context): Promise<Connected<EcommercePort> | null> {
  const found = await connected(ctx, 'ecommerce')
  return (
    found && { ...found, store: { ...found.store, renew: renewing(ctx, 'ecommerce', found.connectedAt) } }
  )
}

/** What runs out of this connection is renewed, and kept. */
const renewing =
  (ctx: Context, port: ConnectionPort, connectedAt: Date): NonNullable<ProviderStore['renew']> =>
  (change) => {
    const context = sealContext(ctx, port)
    const kept = {
      port,
      connectedAt,
      open: (sealed: string) => unseal(ctx.settings, context, sealed),
      seal: (credentials: unknown) => seal(ctx.settings, context, credentials),
    }
    return renewCredentials(ctx, kept, change)
  }

const unsealed = (ctx: Context, port: ConnectionPort, row: ConnectionRow): ProviderStore => {
  const { credentials, connected_at: connectedAt, is_troubled: isTroubled } = row
  return {
    id: ctx.store.id,
    credentials: credentials === null ? null : unseal(ctx.settings, sealContext(ctx, port), credentials),
    connection: { port, part: '', connectedAt, isTroubled },
  }
}

/** Where the shop's owner switches on what shoppers see, on a platform where they have to; else null. */
export async function activationLink(ctx: Context): Promise<string | null> {
  const connected = await ecommerce(ctx)
  return (await connected?.port.activationLink?.(connected.store)) ?? null
}

/**
 * Every store that is connected to an ecommerce platform which still takes our access: what is synced by the clock asks
 * here. One that was lost is probed, and synced again once it is back.
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

/** Every store that has a connection of the port. */
export const storesConnected =
  (port: ConnectionPort) =>
  ({ root }: SystemContext) =>
    root
      .selectFrom('connections')
      .select('store_id')
      .where('port', '=', port)
      .where('connected_at', 'is not', null)

/** The same, refused with `conflict` when none is connected. */
export async function requireEcommerce(ctx: Context): Promise<Connected<EcommercePort>> {
  const connected = await ecommerce(ctx)
  if (!connected)
    throw refuse('conflict', 'The store is not connected to an ecommerce platform: connect it first')
  return connected
}

/**
 * Connects the store to its ecommerce platform, replacing what was connected: asks the platform who the credentials
 * belong to, registers the webhooks, and in one transaction seals the credentials, takes over what the platform says
 * of the shop, queues the first `orders-sync` and tells `platformConnected`. Called outside a transaction. Refuses an unknown provider, credentials the
 * platform does not take, and a shop that belongs to another store.
 */
export async function connectEcommerce(ctx: Context, provider: string, credentials: unknown): Promise<void> {
  const port = namedAdapter(ctx, 'ecommerce', provider)
  const store = { id: ctx.store.id, credentials }
  const shop = await checked(port, store)
  await registerWebhooks(ctx, { port, store, provider })
  await ctx.transaction(async (tx) => {
    await keepConnection(tx, 'ecommerce', provider, credentials ?? null, {})
    await takeOver(tx, provider, shop)
    await tx.queue(ordersSync, {})
    for (const told of tx.wired.platformConnected) await told(tx)
    await tx.afterCommit(() => tx.services.accessChanged(tx.store.id))
  })
}

/** Keeps a port's connection, its credentials sealed, in place of what was connected. In the caller's transaction. */
export async function keepConnection(
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
  await moveConnection(tx, { port, part: '', provider, connectedAt: now }, { is: 'connected' })
}

/** Forgets the credentials of a connection. Refuses when it is not connected. */
export async function disconnect(ctx: Context, port: ConnectionPort): Promise<void> {
  const [gone] = await ctx.db
    .updateTable('connections')
    .set({ credentials: null, connected_at: null, updated_at: ctx.now() })
    .where('port', '=', port)
    .where('connected_at', 'is not', null)
    .returning('port')
    .execute()
  if (!gone) throw refuse('conflict', `port: ${port} is not connected`)
}

/**
 * Asks the platform to tell us of changes, of all or of those named; what is registered already stays as it is.
 * Answers whether one of them was missing there.
 */
export async function registerWebhooks(
  ctx: Context,
  { port, store, provider }: Pick<Connected<EcommercePort>, 'port' | 'store' | 'provider'>,
  wanted: readonly WebhookTopic[] = topics,
): Promise<boolean> {
  const url = `${ctx.settings.publicUrl}/hooks/ecommerce/${provider}/${ctx.store.id}`
  const secret = webhookSecret(ctx, provider)
  let wasMissing = false
  for (const topic of wanted) {
    const { created } = await port.registerWebhook(store, { topic, url, secret })
    wasMissing ||= created
  }
  return wasMissing
}

/** What a platform signs its webhooks to this store with: the same for every connection, so that none is lost. */
const webhookSecret = (ctx: Context, provider: string): string => webhookSecrets(ctx, provider)[0]!

/** With that of before, which a platform signs with until its webhooks are registered anew. */
export const webhookSecrets = (ctx: Context, provider: string): string[] =>
  signaturesOf(ctx.settings, 'ecommerce-webhooks', `${ctx.store.id}:${provider}`)

const adapterOf = <Port extends keyof SectionPorts>(ctx: Context, port: Port, provider: string) => {
  const adapters = ctx.adapters[port] as Readonly<Record<string, SectionPorts[Port]>>
  return Object.hasOwn(adapters, provider) ? adapters[provider]! : null
}

/** Finds the adapter of a connection row; throws when this server has none. */
export function requireAdapter<Port extends keyof SectionPorts>(ctx: Context, port: Port, provider: string) {
  const adapter = adapterOf(ctx, port, provider)
  if (!adapter) throw new Error(`No adapter of this server is named ${provider}`)
  return adapter
}

/** As a caller named it: refuses where this server has no such adapter. */
export function namedAdapter<Port extends keyof SectionPorts>(ctx: Context, port: Port, provider: string) {
  const adapter = adapterOf(ctx, port, provider)
  if (adapter) return adapter
  const known = Object.keys(ctx.adapters[port]).join(', ')
  throw refuse('bad_request', `provider: ${provider} is none of this server: one of ${known}`)
}

const sealContext = (ctx: Context, port: ConnectionPort): string => `${ctx.store.id}:${port}`

type Shop = Awaited<ReturnType<EcommercePort['check']>>

const checked = (port: EcommercePort, store: ProviderStore): Promise<Shop> => refusedAsBad(port.check(store))

/** The provider's answer to given credentials. */
export async function refusedAsBad<T>(asked: Promise<T>): Promise<T> {
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

async function takeOver(ctx: Context, provider: string, shop: Shop): Promise<void> {
  const { platformStoreId, domain, country, currency } = shop
  await freeDomain(ctx, domain)
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
  const taken = `${domain} is connected to another store already`
  await unlessTaken('stores_domain_key', taken, () => moved.execute())
}

/** A store whose connection has ended keeps the name of its shop until another store shows that it has that shop now. */
async function freeDomain(ctx: Context, domain: string): Promise<void> {
  const listed = await storesListed(ctx.system, 'store-domain', [domain])
  const others = listed.filter((id) => id !== ctx.store.id)
  if (others.length === 0) return
  await ctx.system
    .updateTable('stores')
    .set({ domain: sql<string>`id::text || '.example.com'`, updated_at: ctx.now() })
    .where('domain', '=', domain)
    .where(amongStores('id', others))
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

/** How far a mirror of the platform has read; undefined for a new connection. */
export async function readProgress<T>(ctx: Context, mirror: string): Promise<T | undefined> {
  const row = await ctx.db
    .selectFrom('connections')
    .select('settings')
    .where('port', '=', 'ecommerce')
    .executeTakeFirst()
  return (row?.settings as Record<string, T> | undefined)?.[mirror]
}

/** How far all mirrors have read; null without a platform that is connected. */
export async function readAllProgress(ctx: Context): Promise<Readonly<Record<string, unknown>> | null> {
  const [row] = await connectionOf(ctx, { port: 'ecommerce' })
  return row ? ((row.settings ?? {}) as Record<string, unknown>) : null
}

/** Keeps it, in the transaction of the rows. Throws, and so undoes them, when the connection is another by now. */
export async function keepProgress(
  ctx: Context,
  connectedAt: Date,
  known: Record<string, unknown>,
): Promise<void> {
  const moved = await ctx.db
    .updateTable('connections')
    .set({ settings: sql<string>`settings || ${JSON.stringify(known)}::jsonb` })
    .where('port', '=', 'ecommerce')
    .where(isInstant('connected_at', connectedAt))
    .returning('port')
    .execute()
  const [mirror] = Object.keys(known)
  if (moved.length === 0) throw new Error(`The store was connected anew while its ${mirror} were read`)
}
