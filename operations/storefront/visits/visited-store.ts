/** Finds the store of a public id with its features and cache stamp, in one round trip. */
import type { PlanFacts, StoreFacts, SubscriptionInstants } from '#db/access'
import { type Database, requireReachable } from '#db/database'
import { findStoreIds } from '#db/lookup-index/find'
import { canWriteAt, featureSet, planIdAt, statusAt } from '#operations/store/index'
import { Context, jobActor, type SystemContext } from '#runtime/context'

export interface VisitedStore {
  ctx: Context
  /** Features of the plan. Empty if the subscription may not write; then nothing is shown or counted. */
  features: ReadonlySet<string>
  /** Changes whenever anything that the storefront shows may have changed. */
  stamp: string
  /** Revision of settings and catalog cache, for an ETag. */
  revision: string
}

interface Row extends SubscriptionInstants, PlanFacts, Omit<StoreFacts, 'publicId'> {
  storefront_revision: number
  catalog_revision: number
}

const text = `
  select s.id, s.name, s.slug, s.domain, s.country, s.currency, s.timezone, s.locale, s.storefront_revision,
    coalesce(m.revision, 0) as catalog_revision,
    b.plan_id, b.scheduled_change, b.status, b.current_period_end, b.trial_ends_at, b.grace_ends_at, b.ends_at,
    b.paused_at
  from stores s
  join subscriptions b on b.store_id = s.id
  left join catalog_mirrors m on m.store_id = s.id
  where s.public_id = $1`
const ofStore = `${text} and s.id = $2`

const noFeatures: ReadonlySet<string> = new Set()

/** Returns null if no store has this public id. */
export async function findVisitedStore(
  system: SystemContext,
  publicId: string,
): Promise<VisitedStore | null> {
  const { database, clock } = system.services
  const [row] = (await database.isDistributed())
    ? await findOnCluster(database, publicId)
    : await database.query<Row>(text, [publicId], 'once')
  if (!row) return null
  const { id, name, slug, domain, country, currency, timezone, locale } = row
  const store: StoreFacts = { id, name, slug, publicId, domain, country, currency, timezone, locale }
  const now = clock.ms()
  const planId = canWriteAt(statusAt(row, now)) ? planIdAt(row, now) : null
  const revision = `${row.storefront_revision}.${row.catalog_revision}`
  return {
    ctx: new Context(system.services, store, jobActor(null, system.requestId), system.log),
    features: planId === null ? noFeatures : featureSet(planId),
    stamp: JSON.stringify([revision, planId, name, domain, country, currency, timezone, locale]),
    revision,
  }
}

/** Looks up the store id first, because on a cluster a statement without a store id would query every shard. */
async function findOnCluster(database: Database, publicId: string): Promise<Row[]> {
  const [store] = await findStoreIds(database.root, 'store-public-id', [publicId])
  if (!store) return []
  requireReachable(database, store)
  return database.query<Row>(ofStore, [publicId, store])
}
