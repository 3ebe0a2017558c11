/** Who a key is: one query for the key, its creator's membership, the store and its subscription. */
import { sql } from 'kysely'
import { type Database, reach } from './database.ts'
import { keysByStore } from './directory/find.ts'

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
  /** The key that it was granted by; null for one that nobody granted. */
  parentKeyId: string | null
  storeId: string
  userId: string
  role: 'owner' | 'member' | 'agent'
  scopes: ReadonlySet<string>
  expiresAt: number | null
  /** `planIdAt` of it and `statusAt`: the clock decides at each request. */
  subscription: SubscriptionInstants & PlanFacts
  store: StoreFacts
}

/** What nearly every handler needs to know of its store. */
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

type Found = ReadonlyMap<string, Access>
const byHash = (rows: readonly AccessRow[]): Found => new Map(rows.map((row) => [row.hash, accessOf(row)]))

/**
 * The holders of the keys with these SHA-256, in their order, null for none; their expiry is the caller's to compare with
 * the clock. Each has to be awaited: on a cluster that of a store whose node is away fails, and no other.
 */
export async function findAccesses(
  database: Database,
  hashes: readonly string[],
): Promise<(Access | null | Promise<Access | null>)[]> {
  if (await database.isDistributed()) return accessesByStore(database, hashes)
  const found = byHash(await database.query<AccessRow>(accessText, [hashes], 'once'))
  return hashes.map((hash) => found.get(hash) ?? null)
}

/** On a cluster: the directory says whose they are, and each store's shard is asked for its own alone. */
async function accessesByStore(
  database: Database,
  hashes: readonly string[],
): Promise<(null | Promise<Access | null>)[]> {
  const listed = await keysByStore(database.root, 'api-key', hashes)
  const storeOf = new Map<string, Promise<Found>>()
  for (const [storeId, its] of listed) {
    const found = foundIn(database, storeId, its)
    for (const hash of its) storeOf.set(hash, found)
  }
  return hashes.map((hash) => storeOf.get(hash)?.then((found) => found.get(hash) ?? null) ?? null)
}

async function foundIn(database: Database, storeId: string, hashes: readonly string[]): Promise<Found> {
  reach(database, storeId)
  return byHash(await database.query<AccessRow>(accessOfStoreText, [hashes, storeId]))
}

function accessOf(row: AccessRow): Access {
  return {
    keyId: row.key_id,
    parentKeyId: row.parent_id,
    storeId: row.store_id,
    userId: row.user_id,
    role: row.role,
    scopes: new Set(row.scopes),
    expiresAt: endOf(row),
    subscription: row,
    store: storeFacts(row.store_id, row),
  }
}

/** Its own end, that of its present text, or that of the key it was granted by: whichever comes first. */
function endOf({ expires_at, token_expires_at, parent_expires_at }: AccessRow): number | null {
  const ends = [expires_at, token_expires_at, parent_expires_at].flatMap((at) => (at ? [at.getTime()] : []))
  return ends.length > 0 ? Math.min(...ends) : null
}

/** The facts of one store, for jobs; null when it is gone. */
export async function findStoreFacts(database: Database, storeId: string): Promise<StoreFacts | null> {
  reach(database, storeId)
  const [row] = await database.query<Omit<AccessRow, 'hash' | 'key_id' | 'parent_id'>>(
    'select name, slug, public_id, domain, country, currency, timezone, locale from stores where id = $1',
    [storeId],
  )
  return row ? storeFacts(storeId, row) : null
}

function storeFacts(
  id: string,
  row: Omit<AccessRow, 'hash' | 'key_id' | 'parent_id' | 'store_id'>,
): StoreFacts {
  const { name, slug, domain, country, currency, timezone, locale } = row
  return { id, name, slug, publicId: row.public_id, domain, country, currency, timezone, locale }
}

/** When a key of a store was last used, in milliseconds. */
export interface KeyUse {
  storeId: string
  keyId: string
  at: number
}

/** Writes down when keys were last used. Off the request's path; an older instant never replaces a newer one. */
export async function recordKeyUse(database: Database, uses: readonly KeyUse[]): Promise<void> {
  // Sorted: no two instances wait for each other's.
  const sorted = uses.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))
  await sql`
    update api_keys k set last_used_at = to_timestamp(u.ms / 1000)
    from unnest(${sorted.map(({ storeId }) => storeId)}::uuid[], ${sorted.map(({ keyId }) => keyId)}::uuid[],
      ${sorted.map(({ at }) => at)}::float8[]) as u(store_id, id, ms)
    where k.store_id = u.store_id and k.id = u.id and (k.last_used_at is null or k.last_used_at < to_timestamp(u.ms / 1000))`.execute(
    database.root,
  )
}
