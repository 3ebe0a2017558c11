/** The demo: Aurora Supply and Borealis Goods, section by section, and keys to try them with. */
import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { rebuildDailySums } from '#operations/store/index'
import { refreshCatalog } from '#operations/storefront/catalog/refresh'
import { publication } from '#operations/storefront/index'
import { type Context, type Services, SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { allScopes, type Scope } from '#runtime/roles'
import { createKey } from '#scripts/admin/keys'
import { noProgress, type Progress } from '#scripts/cli/progress'
import { attributeShop, countUsage } from './attribution.ts'
import { seedAuroraAutomations } from './automations.ts'
import { seedAuroraCampaigns } from './campaigns.ts'
import { seedData } from './data.ts'
import type { DemoStore } from './demo-store.ts'
import { seedAuroraExchanges } from './exchanges.ts'
import { seedAuroraInbox } from './inbox.ts'
import { seedAuroraLists } from './lists.ts'
import { type Begun, markerName, readMarker } from './marker.ts'
import { seedMedia } from './media.ts'
import { seedAuroraMessaging, seedBorealisMessaging } from './messaging.ts'
import { publishDiscounts } from './promotions.ts'
import { seedAuroraReviews } from './reviews.ts'
import { finishPlatformSetup, seedAuroraShop, seedBorealisShop } from './shop.ts'
import { seedAuroraStock } from './stock.ts'
import { auroraPeople, borealisPeople, demoStores, seedStores } from './store.ts'
import { seedActivity } from './storefront-activity.ts'
import { linkSubmissions, seedAuroraSubscribers, showLoader } from './subscribers.ts'
import { readNotifications, recordSingles, seedBindings } from './team.ts'
import { seedAuroraWishlist } from './wishlist.ts'

interface DemoKey {
  /** Slug. */
  store: string
  member: string
  role: string
  name: string
  scopes: readonly Scope[]
  /** Shown only once. */
  key: string
}

export interface Demo {
  stores: { id: string; slug: string; publicId: string; name: string }[]
  keys: DemoKey[]
}

type KeyRequest = Omit<DemoKey, 'key'>

const demoKeys = [...auroraPeople, ...borealisPeople].flatMap(({ key, name, email, role }): KeyRequest[] => {
  const store = key === 'bruno' ? 'borealis-goods' : 'aurora-supply'
  const request = { store, member: email, role }
  const label = `Demo: ${name.split(' ')[0]}`
  const all = { ...request, name: `${label}, all scopes`, scopes: allScopes }
  const readOnly = { ...request, name: `${label}, read only`, scopes: ['platform:read'] as const }
  return key === 'olivia' ? [all, readOnly] : [all]
})

/**
 * Seeds missing rows, revokes the demo's keys and creates new ones: all five, or only the owner's. Once it is complete,
 * a second run only creates keys. Refuses if another store has a slug or domain of the demo.
 */
export async function seedDemo(
  services: Services,
  keys: 'all' | 'owner' = 'all',
  progress: Progress = noProgress,
): Promise<Demo> {
  const { database } = services
  await oneAtATime(services, async () => {
    const { at, isComplete } = await begin(services)
    if (isComplete) return
    try {
      await seedSections(services, at, createSteps(progress))
    } finally {
      progress.end()
    }
  })
  const stores = await database.root
    .selectFrom('stores')
    .select(['id', 'slug', 'public_id', 'name'])
    .where(
      'slug',
      'in',
      demoStores.map((each) => each.slug),
    )
    .orderBy('slug')
    .execute()
  return {
    stores: stores.map(({ id, slug, public_id: publicId, name }) => ({ id, slug, publicId, name })),
    keys: await replaceKeys(services, stores, keys === 'all' ? demoKeys : demoKeys.slice(0, 1)),
  }
}

async function begin(services: Services): Promise<{ at: Date; isComplete: boolean }> {
  const known = await readMarker(services)
  if (known) return { ...known, at: new Date(known.at) }
  await refuseForeignStores(services)
  const at = services.clock.now()
  const marker: Begun = { at: at.toISOString(), isComplete: false }
  await services.database.root
    .insertInto('server_settings')
    .values({ name: markerName, value: JSON.stringify(marker) })
    .execute()
  return { at, isComplete: false }
}

/** Before the marker is written, so that a demo that cannot be completed is not started. */
async function refuseForeignStores(services: Services): Promise<void> {
  const foreign = await services.database.root
    .selectFrom('stores')
    .select('slug')
    .where((eb) =>
      eb.or(demoStores.flatMap(({ slug, domain }) => [eb('slug', '=', slug), eb('domain', '=', domain)])),
    )
    .orderBy('id')
    .executeTakeFirst()
  if (!foreign) return
  throw refuse(
    'conflict',
    `The store ${foreign.slug} has the slug or the domain of a demo store: use a database without it`,
  )
}

/** Two processes that start on an empty server seed it once; the embedded database has a single process. */
async function oneAtATime(services: Services, run: () => Promise<void>): Promise<void> {
  const { database } = services
  if (database.kind === 'pglite') return withoutChecks(database.root, run)
  // The lock is held during the whole seed, whose idle transaction would exceed the limit of requests on a slow
  // machine.
  await database.longRunning.root.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('seed demo', 0))`.execute(transaction)
    await run()
  })
}

/**
 * Disables foreign key checks: rows are derived from the rows they reference, and checking would take most of the time.
 */
async function withoutChecks(db: RootDatabase, run: () => Promise<void>): Promise<void> {
  const check = (role: 'origin' | 'replica') =>
    sql`set session_replication_role = ${sql.lit(role)}`.execute(db)
  await check('replica')
  try {
    await run()
  } finally {
    await check('origin')
  }
}

const steps = ['stores', 'shops', 'automations', 'widgets', 'inbox', 'exchanges', 'reviews', 'sums'] as const
type Step = (name: (typeof steps)[number]) => void

/** Reports the start of each step. */
function createSteps(progress: Progress): Step {
  progress.begin('The demo', steps.length)
  return (name) => progress.at(steps.indexOf(name), name)
}

async function seedSections(services: Services, at: Date, step: Step): Promise<void> {
  const { database, clock } = services
  const { root } = database
  step('stores')
  const [aurora, borealis] = (await seedStores(services, at)) as [DemoStore, DemoStore]
  const ofAurora = await openContext(services, aurora)
  const ofBorealis = await openContext(services, borealis)
  await seedMedia(ofAurora, aurora)
  await seedMedia(ofBorealis, borealis)
  await seedAuroraMessaging(ofAurora, aurora)
  await seedBorealisMessaging(ofBorealis, borealis)
  step('shops')
  const shops = await root.transaction().execute(async (db) => {
    const auroraShop = await seedAuroraShop(db, clock, aurora)
    const subscribers = await seedAuroraSubscribers(db, aurora, auroraShop)
    const lists = await seedAuroraLists(db, aurora, auroraShop.groups, subscribers)
    await seedAuroraCampaigns(db, aurora, auroraShop, lists)
    await seedData(db, aurora)
    await readNotifications(db, aurora)
    await seedBindings(db, aurora)
    await recordSingles(db, aurora)
    await linkSubmissions(db, aurora, lists.vip.id)
    await seedActivity(db, aurora)

    const borealisShop = await seedBorealisShop(db, clock, borealis)
    await seedData(db, borealis)
    return { aurora: auroraShop, borealis: borealisShop }
  })
  step('automations')
  for (const ctx of [ofAurora, ofBorealis]) {
    // Reads the catalog cache and the storefront's loader from the sandbox's shop, as for any store.
    await refreshCatalog(ctx)
    await publication.install(ctx)
  }
  await seedAuroraAutomations(ofAurora, aurora, shops.aurora)
  step('widgets')
  await seedAuroraStock(root, aurora, shops.aurora)
  await publishDiscounts(ofAurora)
  await publishDiscounts(ofBorealis)
  await seedAuroraWishlist(root, aurora, shops.aurora)
  step('inbox')
  await seedAuroraInbox(ofAurora, aurora, shops.aurora.customers)
  step('exchanges')
  await seedAuroraExchanges(ofAurora, aurora, shops.aurora)
  step('reviews')
  await seedAuroraReviews(ofAurora, aurora, shops.aurora)
  await attributeShop(ofAurora, shops.aurora, {
    automation: 110,
    'messaging-campaign': 24,
    newsletter: 20,
    'stock-notification': 6,
  })
  await attributeShop(ofBorealis, shops.borealis, { newsletter: 3 })
  await showLoader(ofAurora, aurora)
  await finishPlatformSetup(ofAurora, shops.aurora)
  await finishPlatformSetup(ofBorealis, shops.borealis)
  step('sums')
  for (const { id } of [aurora, borealis]) await countUsage(root, id)
  // Most rows were bulk-inserted without updating the sums.
  for (const ctx of [ofAurora, ofBorealis]) await rebuildDailySums(ctx)
  await analyzeTables(root)
  const done: Begun = { at: at.toISOString(), isComplete: true }
  await root
    .updateTable('server_settings')
    .set({ value: JSON.stringify(done) })
    .where('name', '=', markerName)
    .execute()
}

/**
 * The embedded database gathers no statistics by itself, and plans without them are slow. System tables and the queue's
 * are skipped: they take as long and have not changed.
 */
async function analyzeTables(db: RootDatabase): Promise<void> {
  const { rows } = await sql<{ tablename: string }>`
    select tablename from pg_tables where schemaname = 'public'`.execute(db)
  const tables = rows.map(({ tablename }) => sql.id(tablename))
  await sql`analyze ${sql.join(tables)}`.execute(db)
}

async function openContext(services: Services, store: DemoStore): Promise<Context> {
  const owner = Object.values(store.people)[0]!
  return (await new SystemContext(services, services.log, 'seed').forStore(store.id, owner))!
}

async function replaceKeys(
  services: Services,
  stores: readonly { id: string; slug: string }[],
  keys: readonly KeyRequest[],
): Promise<DemoKey[]> {
  const { database } = services
  const now = services.clock.now()
  const ids = new Map(stores.map(({ id, slug }) => [slug, id]))
  await database.root
    .updateTable('api_keys')
    .set({ revoked_at: now, revoked_reason: 'revoked', updated_at: now })
    .where('store_id', 'in', [...ids.values()])
    .where(
      'name',
      'in',
      demoKeys.map((each) => each.name),
    )
    .where('revoked_at', 'is', null)
    .execute()
  for (const id of ids.values()) await services.accessChanged(id)
  const made: DemoKey[] = []
  for (const each of keys) {
    const { member, name, scopes } = each
    const { key } = await createKey(database, now, { storeId: ids.get(each.store)!, member, name, scopes })
    made.push({ ...each, key })
  }
  return made
}
