/** Looks up API keys: one query reads the key, its creator's membership, the store and its subscription. */
import { sql } from 'kysely'
import { type Database, requireReachable } from './database.ts'
import { findKeysByStore } from './lookup-index/find.ts'

export interface SubscriptionInstants {
  status: string
  current_period_end: Date
  trial_ends_at: Date | null
  grace_ends_at: Date | null
  ends_at: Date | null
  paused_at: Date | null
}

export interface PlanFacts {
  plan_id: string
  scheduled_change: unknown
}

export interface Access {
  keyId: string
  /** The key with which this key was granted to an assistant; null for a key that a person created. */
  parentKeyId: string | null
  storeId: string
  userId: string
  role: 'owner' | 'member' | 'agent'
  scopes: ReadonlySet<string>
  expiresAt: number | null
  /** The subscription's instants. Plan and status depend on the clock, so each request computes them. */
  subscription: SubscriptionInstants & PlanFacts
  store: StoreFacts
}

/** Facts of the store that nearly every handler needs. */
export interface StoreFacts {
  id: string
  name: string
  slug: string
  publicId: string
  domain: string
  country: string
  currency: string
  timezone: string
  locale: string
}

interface AccessRow extends SubscriptionInstants, PlanFacts {
  hash: string
  key_id: string
  parent_id: string | null
  store_id: string
  user_id: string
  role: Access['role']
  scopes: string[]
  expires_at: Date | null
  token_expires_at: Date | null
  parent_expires_at: Date | null
  name: string
  slug: string
  public_id: string
  domain: string
  country: string
  currency: string
  timezone: string
  locale: string
}

const accessText = `
  select k.hash, k.id as key_id, k.parent_id, k.store_id, k.user_id, k.scopes, m.role,
    k.expires_at, k.token_expires_at, p.expires_at as parent_expires_at,
    s.name, s.slug, s.public_id, s.domain, s.country, s.currency, s.timezone, s.locale,
    b.plan_id, b.scheduled_change, b.status, b.current_period_end, b.trial_ends_at, b.grace_ends_at, b.ends_at, b.paused_at
  from api_keys k
  left join api_keys p on p.store_id = k.store_id and p.id = k.parent_id
  join memberships m on m.store_id = k.store_id and m.user_id = k.user_id and m.removed_at is null
  join stores s on s.id = k.store_id
  join subscriptions b on b.store_id = k.store_id
  where k.hash = any($1) and k.revoked_at is null
    and (k.parent_id is null or p.id is not null and p.revoked_at is null)`
const accessOfStoreText = `${accessText} and k.store_id = $2`

type AccessByHash = ReadonlyMap<string, Access>
const indexByHash = (rows: readonly AccessRow[]): AccessByHash =>
  new Map(rows.map((row) => [row.hash, toAccess(row)]))

/**
 * Returns the access of the keys with these SHA-256 hashes, in the same order; null for an unknown key. The caller
 * checks the expiry. An entry may be a promise, which must be awaited: on a cluster, only the promises of stores on an
 * unreachable node reject.
 */
export async function findAccesses(
  database: Database,
  hashes: readonly string[],
): Promise<(Access | null | Promise<Access | null>)[]> {
  if (await database.isDistributed()) return findAccessesByStore(database, hashes)
  const found = indexByHash(await database.query<AccessRow>(accessText, [hashes], 'once'))
  return hashes.map((hash) => found.get(hash) ?? null)
}

/** The same on a cluster: the lookup index gives the keys' stores, and only the shards of these stores are queried. */
async function findAccessesByStore(
  database: Database,
  hashes: readonly string[],
): Promise<(null | Promise<Access | null>)[]> {
  const listed = await findKeysByStore(database.root, 'api-key', hashes)
  const accessByHash = new Map<string, Promise<AccessByHash>>()
  for (const [storeId, its] of listed) {
    const found = findInStore(database, storeId, its)
    for (const hash of its) accessByHash.set(hash, found)
  }
  return hashes.map((hash) => accessByHash.get(hash)?.then((found) => found.get(hash) ?? null) ?? null)
}

async function findInStore(
  database: Database,
  storeId: string,
  hashes: readonly string[],
): Promise<AccessByHash> {
  requireReachable(database, storeId)
  return indexByHash(await database.query<AccessRow>(accessOfStoreText, [hashes, storeId]))
}

function toAccess(row: AccessRow): Access {
  return {
    keyId: row.key_id,
    parentKeyId: row.parent_id,
    storeId: row.store_id,
    userId: row.user_id,
    role: row.role,
    scopes: new Set(row.scopes),
    expiresAt: findExpiry(row),
    subscription: row,
    store: toStoreFacts(row.store_id, row),
  }
}

/** The earliest expiry of the key, of its current token and of the key that granted it. */
function findExpiry({ expires_at, token_expires_at, parent_expires_at }: AccessRow): number | null {
  const ends = [expires_at, token_expires_at, parent_expires_at].flatMap((at) => (at ? [at.getTime()] : []))
  return ends.length > 0 ? Math.min(...ends) : null
}

/** Reads the facts of a store, for jobs; null if the store does not exist. */
export async function findStoreFacts(database: Database, storeId: string): Promise<StoreFacts | null> {
  requireReachable(database, storeId)
  const [row] = await database.query<Omit<AccessRow, 'hash' | 'key_id' | 'parent_id'>>(
    'select name, slug, public_id, domain, country, currency, timezone, locale from stores where id = $1',
    [storeId],
  )
  return row ? toStoreFacts(storeId, row) : null
}

function toStoreFacts(
  id: string,
  row: Omit<AccessRow, 'hash' | 'key_id' | 'parent_id' | 'store_id'>,
): StoreFacts {
  const { name, slug, domain, country, currency, timezone, locale } = row
  return { id, name, slug, publicId: row.public_id, domain, country, currency, timezone, locale }
}

/** The last use of a store's key, in milliseconds. */
export interface KeyUse {
  storeId: string
  keyId: string
  at: number
}

/** Records when keys were last used, outside requests; an older instant never replaces a newer one. */
export async function recordKeyUse(database: Database, uses: readonly KeyUse[]): Promise<void> {
  // Sorted, so that two instances never deadlock.
  const sorted = uses.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))
  await sql`
    update api_keys k set last_used_at = to_timestamp(u.ms / 1000)
    from unnest(${sorted.map(({ storeId }) => storeId)}::uuid[], ${sorted.map(({ keyId }) => keyId)}::uuid[],
      ${sorted.map(({ at }) => at)}::float8[]) as u(store_id, id, ms)
    where k.store_id = u.store_id and k.id = u.id and (k.last_used_at is null or k.last_used_at < to_timestamp(u.ms / 1000))`.execute(
    database.root,
  )
}
