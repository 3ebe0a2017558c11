/** Bulk creation of stores, as `createStore` does, with a key for each. */
import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { getPlan } from '#operations/store/plans'
import { addPeriod } from '#operations/store/quota/periods'
import { allScopes } from '#runtime/roles'
import { newId, randomSecret, randomText, sha256 } from '#runtime/values/ids'

export interface LoadedStore {
  id: string
  slug: string
}

/** `store` is its slug. */
export interface LoadedKey {
  store: string
  key: string
}

const keyName = 'Load: all scopes'
const timezone = 'America/Sao_Paulo'

/** A statement has at most 65,535 parameters. */
const rowsAtOnce = 2000

/**
 * `load-1` to `load-<count>`, on the largest plan; existing ones stay unchanged. Columns of lookup indexes are
 * included, which raw SQL may not write.
 */
export async function makeStores(db: RootDatabase, now: Date, count: number): Promise<LoadedStore[]> {
  // A cluster writes `users`, a reference table, in a transaction that has queried shards one by one.
  await sql`select set_config('citus.multi_shard_modify_mode', 'sequential', true)`.execute(db)
  const slugs = Array.from({ length: count }, (_, index) => `load-${index + 1}`)
  const there = await storesNamed(db, slugs)
  const known = new Set(there.map(({ slug }) => slug))
  const made = slugs.flatMap((slug, index) =>
    known.has(slug) ? [] : [{ id: newId(now.getTime()), slug, name: `Load ${index + 1}` }],
  )
  for (const some of chunk(made)) await insertStores(db, now, some)
  return [...there, ...made.map(({ id, slug }) => ({ id, slug }))].sort((a, b) => (a.id < b.id ? -1 : 1))
}

async function storesNamed(db: RootDatabase, slugs: readonly string[]): Promise<LoadedStore[]> {
  return db
    .selectFrom('stores')
    .select(['id', 'slug'])
    .where('slug', '=', sql<string>`any(${slugs}::text[])`)
    .execute()
}

async function insertStores(
  db: RootDatabase,
  now: Date,
  made: readonly (LoadedStore & { name: string })[],
): Promise<void> {
  const times = { created_at: now, updated_at: now }
  const own = made.map((store) => ({ ...store, owner: newId(now.getTime()), store_id: store.id }))
  const period = { current_period_start: now, current_period_end: addPeriod(now, 1) }
  const cycle = { starts_at: now, ends_at: period.current_period_end }
  const plan = { plan_id: 'scale', status: 'active', billing_cycle: 'monthly', anchor_at: now } as const
  const users = own.map(({ owner, slug, name }) => {
    const email = `owner@${slug}.example.com`
    return { id: owner, name: `Owner of ${name}`, email, ...times }
  })
  const stores = made.map((store) => ({
    ...store,
    ...{ country: 'BR', currency: 'BRL', timezone, joined_at: now, ...times },
    public_id: randomText(20),
    domain: `${store.slug}.example.com`,
    platform_store_id: `sandbox-${store.slug}`,
  }))
  const memberships = own.map(({ store_id, owner }) => {
    const role = 'owner' as const
    return { store_id, user_id: owner, role, joined_at: now, ...times }
  })
  const zones = own.map(({ store_id }) => ({ store_id, timezone, built_before: null, created_at: now }))
  const message_limit = getPlan('scale').messagesPerCycle
  const cycles = own.map(({ store_id }) => ({ store_id, ...cycle, message_limit, ...times }))
  const subscriptions = own.map(({ store_id }) => ({
    ...{ store_id, id: newId(now.getTime()) },
    ...{ ...plan, ...period, ...times },
  }))
  await db.insertInto('users').values(users).execute()
  await db.insertInto('stores').values(stores).execute()
  await db.insertInto('memberships').values(memberships).execute()
  await db.insertInto('conversion_zones').values(zones).execute()
  await db.insertInto('usage_cycles').values(cycles).execute()
  await db.insertInto('subscriptions').values(subscriptions).execute()
}

export async function makeKeys(db: RootDatabase, now: Date, stores: LoadedStore[]): Promise<LoadedKey[]> {
  const ids = stores.map((store) => store.id)
  await sql`
    update api_keys set revoked_at = ${now}::timestamptz, revoked_reason = 'revoked', updated_at = ${now}::timestamptz
    where store_id = any(${ids}::uuid[]) and name = ${keyName} and revoked_at is null`.execute(db)
  const owners = new Map((await selectOwners(db, ids)).map((each) => [each.store_id, each.user_id]))
  const keys = stores.flatMap(({ id, slug }) => {
    const owner = owners.get(id)
    return owner ? [{ store_id: id, user_id: owner, slug, key: `mk_live_${randomSecret()}` }] : []
  })
  const rows = keys.map(({ key, slug: _slug, ...whose }) => ({
    ...whose,
    id: newId(now.getTime()),
    name: keyName,
    hash: sha256(key),
    prefix: key.slice(0, 12),
    scopes: [...allScopes],
    created_at: now,
    updated_at: now,
  }))
  for (const some of chunk(rows)) await db.insertInto('api_keys').values(some).execute()
  return keys.map(({ slug, key }) => ({ store: slug, key }))
}

/** The longest-standing owner of each. */
const selectOwners = (db: RootDatabase, ids: readonly string[]) =>
  db
    .selectFrom('memberships')
    .select(['store_id', 'user_id'])
    .distinctOn('store_id')
    .where('store_id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('role', '=', 'owner')
    .where('removed_at', 'is', null)
    .orderBy('store_id')
    .orderBy('joined_at')
    .execute()

const chunk = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / rowsAtOnce) }, (_, n) =>
    all.slice(n * rowsAtOnce, (n + 1) * rowsAtOnce),
  )
