/** The route of a message: the store's selected connection, its adapter and credentials. */
import { health, readEntitlement } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import type { ProviderStore } from '#runtime/ports/provider'
import { unseal } from '#runtime/secrets'
import type { ConnectionType, MessagingPort } from '../provider/port.ts'

export interface Connection {
  type: ConnectionType
  /** The id of the number; its rate is shared by all stores that use it. */
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

const findSelectedRow = prepared((db) =>
  db
    .selectFrom('stores as s')
    .innerJoin('messaging_connections as c', 'c.type', 's.messaging_connection_type')
    .select(columns)
    .select(health.isUnhealthySql(db, 'messaging', 'c.type').as('is_troubled')),
)

const findRowByType = prepared((db, values: { type: string }) =>
  db
    .selectFrom('messaging_connections as c')
    .select(columns)
    .select(health.isUnhealthySql(db, 'messaging', 'c.type').as('is_troubled'))
    .where('c.type', '=', values.type),
)

/** The selected connection's route, or null if it cannot send now. Official requires the feature `official-api`. */
export async function findSelectedRoute(ctx: Context): Promise<Route | null> {
  const [row] = await findSelectedRow(ctx, {})
  return row ? checkUsable(ctx, toRoute(ctx, row)) : null
}

/** Returns the official number's route if `via` is set, otherwise the selected connection's; null if it cannot send. */
export async function findRoute(ctx: Context, via?: 'official'): Promise<Route | null> {
  if (via === undefined) return findSelectedRoute(ctx)
  const route = await findRouteByType(ctx, via)
  return route && checkUsable(ctx, route)
}

/** Like `findRoute`, but returns the reason if there is no route. */
export async function routeOrReason(
  ctx: Context,
  via?: 'official',
): Promise<Route | 'not-connected' | 'subscription-inactive'> {
  const [row] = via === undefined ? await findSelectedRow(ctx, {}) : await findRowByType(ctx, { type: via })
  const route = row ? toRoute(ctx, row) : null
  if (!route?.isConnected) return 'not-connected'
  return (await checkUsable(ctx, route)) ?? 'subscription-inactive'
}

async function checkUsable(ctx: Context, route: Route): Promise<Route | null> {
  if (!route.isConnected || route.connection.type !== 'official') return route.isConnected ? route : null
  const { features } = await readEntitlement(ctx)
  return features.has('official-api') ? route : null
}

/** The adapter of the selected connection, even if it cannot send now; null if none is selected. */
export async function findSelectedPort(ctx: Context): Promise<MessagingPort | null> {
  const [row] = await findSelectedRow(ctx, {})
  return (row && ctx.adapters.messaging[row.provider]) ?? null
}

/** The route of one connection, even if it cannot send now; null if it does not exist. */
export async function findRouteByType(ctx: Context, type: ConnectionType): Promise<Route | null> {
  const [row] = await findRowByType(ctx, { type })
  return row ? toRoute(ctx, row) : null
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

function toRoute(ctx: Context, row: ConnectionRow): Route {
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
        ...{ connectedAt: row.connected_at, isFailing: row.is_troubled },
      },
    },
    isConnected: row.status === 'connected',
  }
}
