/** The way a message takes: the store's selected connection, the adapter behind it, its credentials. */
import { entitlementOf, health } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import type { ProviderStore } from '#runtime/ports/provider'
import { unseal } from '#runtime/secrets'
import type { ConnectionType, MessagingPort } from '../provider/port.ts'

export interface Connection {
  type: ConnectionType
  /** Of the number behind it: its pace is one over all stores that use it. */
  numberId: string
  phone: string | null
}

export interface Route {
  connection: Connection
  port: MessagingPort
  provider: string
  store: ProviderStore
  isConnected: boolean
}

const columns = [
  'c.type',
  'c.status',
  'c.provider',
  'c.credentials',
  'c.number_id',
  'c.phone',
  'c.connected_at',
] as const

const selectedRow = prepared((db) =>
  db
    .selectFrom('stores as s')
    .innerJoin('messaging_connections as c', 'c.type', 's.messaging_connection_type')
    .select(columns)
    .select(health.isTroubledSql(db, 'messaging', 'c.type').as('is_troubled')),
)

const rowOfType = prepared((db, values: { type: string }) =>
  db
    .selectFrom('messaging_connections as c')
    .select(columns)
    .select(health.isTroubledSql(db, 'messaging', 'c.type').as('is_troubled'))
    .where('c.type', '=', values.type),
)

/** The selected connection's route when it can send now, else null. Official takes the feature `official-api`. */
export async function selectedRoute(ctx: Context): Promise<Route | null> {
  const [row] = await selectedRow(ctx, {})
  return row ? usable(ctx, routeOf(ctx, row)) : null
}

/** The way of the official number whatever is selected, else of the selected connection; null when it cannot send. */
export async function routeFor(ctx: Context, via?: 'official'): Promise<Route | null> {
  if (via === undefined) return selectedRoute(ctx)
  const route = await routeOfType(ctx, via)
  return route && usable(ctx, route)
}

/** The same, or why there is none. */
export async function routeOrReason(
  ctx: Context,
  via?: 'official',
): Promise<Route | 'not-connected' | 'subscription-inactive'> {
  const [row] = via === undefined ? await selectedRow(ctx, {}) : await rowOfType(ctx, { type: via })
  const route = row ? routeOf(ctx, row) : null
  if (!route?.isConnected) return 'not-connected'
  return (await usable(ctx, route)) ?? 'subscription-inactive'
}

async function usable(ctx: Context, route: Route): Promise<Route | null> {
  if (!route.isConnected || route.connection.type !== 'official') return route.isConnected ? route : null
  const { features } = await entitlementOf(ctx)
  return features.has('official-api') ? route : null
}

/** The adapter of the selected connection, whether it can send now or not; null when none is selected. */
export async function selectedPort(ctx: Context): Promise<MessagingPort | null> {
  const [row] = await selectedRow(ctx, {})
  return (row && ctx.adapters.messaging[row.provider]) ?? null
}

/** The route of one connection of the store, whether it can send now or not; null when there is none. */
export async function routeOfType(ctx: Context, type: ConnectionType): Promise<Route | null> {
  const [row] = await rowOfType(ctx, { type })
  return row ? routeOf(ctx, row) : null
}

interface ConnectionRow {
  type: string
  status: string
  provider: string
  credentials: string | null
  number_id: string | null
  phone: string | null
  connected_at: Date | null
  is_troubled: boolean
}

function routeOf(ctx: Context, row: ConnectionRow): Route {
  const port = ctx.adapters.messaging[row.provider]
  if (!port) throw new Error(`This server has no messaging provider ${row.provider}`)
  const credentials = row.credentials && unseal(ctx.settings, ctx.store.id, row.credentials)
  return {
    connection: {
      type: row.type as ConnectionType,
      numberId: row.number_id ?? ctx.store.id,
      phone: row.phone,
    },
    port,
    provider: row.provider,
    store: {
      id: ctx.store.id,
      credentials: credentials ?? null,
      connection: {
        ...{ port: 'messaging', part: row.type },
        ...{ connectedAt: row.connected_at, isTroubled: row.is_troubled },
      },
    },
    isConnected: row.status === 'connected',
  }
}
