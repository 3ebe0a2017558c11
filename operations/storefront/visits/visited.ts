/** The store behind a public id, with what it may use and what its copies are good for: one round trip. */
import type { PlanFacts, StoreFacts, SubscriptionInstants } from '#db/access'
import { type Database, reach } from '#db/database'
import { storesListed } from '#db/directory/find'
import { canWriteAt, featureSet, planIdAt, statusAt } from '#operations/store/door'
import { Context, jobActor, type SystemContext } from '#runtime/context'

export interface Visited {
  ctx: Context
  /** None where the subscription may not write: then nothing is shown and nothing counts. */
  features: ReadonlySet<string>
  /** Another one whenever something of what the storefront shows may be another. */
  stamp: string
  /** Of settings and of the catalog's mirror, for an ETag. */
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

const none: ReadonlySet<string> = new Set()

/** Null where no store has this public id. */
export async function findVisited(system: SystemContext, publicId: string): Promise<Visited | null> {
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
    features: planId === null ? none : featureSet(planId),
    stamp: JSON.stringify([revision, planId, name, domain, country, currency, timezone, locale]),
    revision,
  }
}

/** Where a statement that names no store would ask every shard. */
async function findOnCluster(database: Database, publicId: string): Promise<Row[]> {
  const [store] = await storesListed(database.root, 'store-public-id', [publicId])
  if (!store) return []
  reach(database, store)
  return database.query<Row>(ofStore, [publicId, store])
}
