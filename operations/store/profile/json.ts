/** Reads the store's profile and record as JSON that the database builds, with one query each. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { prepared } from '#runtime/database/query'
import { JsonText } from '#runtime/operation'
import { defaultHours } from '../conversions/attribution-hours.ts'
import { isLostSql } from '../health/health-rows.ts'
import { onboardingCompletedAt } from '../onboarding/evidence.ts'
import { planIdSql, planJson, statusSql } from '../quota/entitlement.ts'

const identity = {
  id: 's.id',
  name: 's.name',
  domain: 's.domain',
  slug: 's.slug',
  publicId: 's.public_id',
  platform: 's.platform',
}
const place = {
  email: 's.email',
  phone: 's.phone',
  country: 's.country',
  currency: 's.currency',
  timezone: 's.timezone',
  locale: 's.locale',
  logoUrl: 's.logo_url',
}
const instants = {
  joinedAt: isoInstant('s.joined_at'),
  createdAt: isoInstant('s.created_at'),
  updatedAt: isoInstant('s.updated_at'),
}
const hours = Object.fromEntries(
  Object.entries(defaultHours).map(([name, fallback]) => [
    name,
    sql`coalesce((s.attribution ->> ${sql.lit(name)})::int, ${sql.lit(fallback)})`,
  ]),
)
const settings = {
  messagingConnectionType: 's.messaging_connection_type',
  attribution: jsonObject(hours),
  preferences: 's.preferences',
}

type Db = Kysely<TenantTables>

/** Whether the ecommerce platform of the store `s` is connected. */
const isConnected = (db: Db): RawBuilder<boolean> =>
  sql<boolean>`exists (${db
    .selectFrom('connections as c')
    .select('c.port')
    .where('c.port', '=', 'ecommerce')
    .where(isWorking(db))})`

/** Whether the connection `c` is connected and our access is not lost (rule 19). */
const isWorking = (db: Db): RawBuilder<boolean> =>
  sql<boolean>`(c.connected_at is not null and not ${isLostSql(db, 'c.port', '')})`

const connectionList = (db: Db) =>
  db.selectFrom('connections as c').select(
    sql`coalesce(json_agg(${jsonObject({
      port: 'c.port',
      provider: 'c.provider',
      connected: isWorking(db),
      connectedAt: isoInstant('c.connected_at'),
    })} order by c.port), '[]')`.as('list'),
  )

const subscription = (now: Date) =>
  jsonObject({
    status: statusSql(now),
    currentPeriodEnd: isoInstant('b.current_period_end'),
    canWrite: sql`${statusSql(now)} not in ('paused', 'ended')`,
  })

const withSubscription = (db: Db) =>
  db.selectFrom('stores as s').innerJoin('subscriptions as b', (join) => join.onTrue())

const findStore = prepared((db, values: { now: Date }) =>
  withSubscription(db).select(
    sql<string>`${jsonObject({
      ...identity,
      connected: isConnected(db),
      ...place,
      plan: planJson(values.now),
      subscription: subscription(values.now),
      settings: jsonObject(settings),
      ...instants,
    })}::text`.as('text'),
  ),
)

const findRecord = prepared((db, values: { now: Date }) =>
  withSubscription(db).select(
    sql<string>`${jsonObject({
      ...identity,
      platformStoreId: 's.platform_store_id',
      ...place,
      agencyId: 's.agency_id',
      planId: planIdSql(values.now),
      subscriptionStatus: statusSql(values.now),
      ...settings,
      connections: sql`(${connectionList(db)})`,
      onboardingCompletedAt: sql`iso(${onboardingCompletedAt(db)})`,
      ...instants,
    })}::text`.as('text'),
  ),
)

const brandingKeys = [
  'logoUrl',
  'faviconUrl',
  'primaryColor',
  'secondaryColor',
  'supportEmail',
  'supportPhone',
  'supportUrl',
  'dashboardDomain',
] as const

const findBranding = prepared((db) =>
  db
    .selectFrom('stores as s')
    .leftJoin('store_agencies as a', (join) => join.onTrue())
    .select(
      sql<string>`${jsonObject({
        hasBranding: sql`a.name is not null`,
        agencyName: 'a.name',
        ...Object.fromEntries(brandingKeys.map((key) => [key, sql`a.branding ->> ${sql.lit(key)}`])),
        hideServiceBrand: sql`coalesce((a.branding ->> 'hideServiceBrand')::boolean, false)`,
      })}::text`.as('text'),
    ),
)

/** Reads the API resource Store as of now. */
export const readStore = async (ctx: Context): Promise<JsonText> =>
  toJsonText(await findStore(ctx, { now: ctx.now() }))

/** Reads the API resource StoreRecord, which is the flat row. */
export const readStoreRecord = async (ctx: Context): Promise<JsonText> =>
  toJsonText(await findRecord(ctx, { now: ctx.now() }))

/** Reads the branding of the store's agency; its fields are null if the store has no agency. */
export const readBranding = async (ctx: Context): Promise<JsonText> => toJsonText(await findBranding(ctx, {}))

function toJsonText([row]: { text: string }[]): JsonText {
  if (!row) throw new Error('The store of this key is gone')
  return new JsonText(row.text)
}
