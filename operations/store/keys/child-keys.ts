/** Child keys: API keys that a merchant grants to an assistant by means of their own API key (rule 15 of the runtime). */

import type { RootDatabase } from '#db/database'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { allScopes, type Scope } from '#runtime/roles'
import { randomSecret, sha256 } from '#runtime/values/ids'
import { truncate } from '#runtime/values/truncate'

/** Limit per store; does not count keys created on the command line. */
const maxChildKeys = 50
const maxNameLength = 80
const prefixLength = 12

/** A key that is valid now. */
export interface ActiveKey {
  id: string
  storeId: string
  storeName: string
  /** The store's locale. */
  locale: string
  userId: string
  parentId: string | null
  scopes: Scope[]
  environment: string
  /** The earlier of its own expiry and its parent's; null if the key never expires. */
  endsAt: Date | null
}

/** A new secret of a key; the plain text is shown only once. */
export interface KeySecret {
  key: string
  hash: string
  prefix: string
}

/**
 * Returns the key if it is valid now: neither the key nor its parent has expired or been revoked, and the key's creator is a
 * member of the store.
 */
export async function findActiveKey(
  db: RootDatabase,
  now: Date,
  storeId: string,
  keyId: string,
): Promise<ActiveKey | null> {
  const row = await db
    .selectFrom('api_keys as k')
    .innerJoin('memberships as m', (join) =>
      join.onRef('m.store_id', '=', 'k.store_id').onRef('m.user_id', '=', 'k.user_id'),
    )
    .innerJoin('stores as s', 's.id', 'k.store_id')
    .leftJoin('api_keys as p', (join) =>
      join.onRef('p.store_id', '=', 'k.store_id').onRef('p.id', '=', 'k.parent_id'),
    )
    .select(['k.id', 'k.user_id', 'k.parent_id', 'k.scopes', 'k.environment', 's.name', 's.locale'])
    .select(['k.expires_at', 'p.id as above', 'p.expires_at as above_expires_at', 'p.revoked_at'])
    .where('k.store_id', '=', storeId)
    .where('k.id', '=', keyId)
    .where('k.revoked_at', 'is', null)
    .where('m.removed_at', 'is', null)
    .executeTakeFirst()
  if (!row || (row.parent_id !== null && (row.above === null || row.revoked_at !== null))) return null
  const ends = [row.expires_at, row.above_expires_at].flatMap((at) => (at ? [at.getTime()] : []))
  const endsAt = ends.length > 0 ? new Date(Math.min(...ends)) : null
  if (endsAt && now >= endsAt) return null
  return {
    id: row.id,
    storeId,
    storeName: row.name,
    locale: row.locale,
    userId: row.user_id,
    parentId: row.parent_id,
    scopes: allScopes.filter((scope) => row.scopes.includes(scope)),
    environment: row.environment,
    endsAt,
  }
}

/** Lists the child keys that are valid now and were granted by this member of the store, with any key of theirs. */
export const listActiveChildKeys = (
  db: RootDatabase,
  now: Date,
  { storeId, userId }: Pick<ActiveKey, 'storeId' | 'userId'>,
): Promise<{ id: string; scopes: string[] }[]> =>
  db
    .selectFrom('api_keys as k')
    .innerJoin('api_keys as p', (join) =>
      join.onRef('p.store_id', '=', 'k.store_id').onRef('p.id', '=', 'k.parent_id'),
    )
    .select(['k.id', 'k.scopes'])
    .where('k.store_id', '=', storeId)
    .where('k.parent_id', 'is not', null)
    .where('k.user_id', '=', userId)
    .where('k.revoked_at', 'is', null)
    .where('k.expires_at', '>', now)
    .where('p.revoked_at', 'is', null)
    .where((eb) => eb.or([eb('p.expires_at', 'is', null), eb('p.expires_at', '>', now)]))
    .execute()

/**
 * Takes the same lock as `lockStore`. The lock enforces the limit under concurrency, and keeps a parent key from being
 * revoked while a child key is created. Take it before reading the parent.
 */
export const lockKeys = (tx: RootDatabase, storeId: string) =>
  tx.selectFrom('stores').select('id').where('id', '=', storeId).forNoKeyUpdate().execute()

/**
 * Creates a child key for the parent's member, with a subset of the parent's scopes. The key is valid until `endsAt` or the
 * parent's earlier expiry; its secret is valid until `tokenEndsAt`. Must run in a transaction that holds `lockKeys`. Refuses
 * the 51st child key of a store.
 */
export async function createChildKey(
  tx: RootDatabase,
  now: Date,
  parent: ActiveKey,
  child: { id: string; name: string; scopes: readonly Scope[]; endsAt: Date; tokenEndsAt: Date },
): Promise<KeySecret> {
  const { storeId } = parent
  const { active } = await tx
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('active'))
    .where('store_id', '=', storeId)
    .where('parent_id', 'is not', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  if (active >= maxChildKeys) {
    throw refuse(
      'conflict',
      `The store has ${maxChildKeys} connected assistants: revoke the key of one first`,
    )
  }
  const text = generateSecret(parent.environment)
  const { endsAt } = parent
  await tx
    .insertInto('api_keys')
    .values({
      store_id: storeId,
      id: child.id,
      user_id: parent.userId,
      parent_id: parent.id,
      name: truncate(child.name, maxNameLength),
      hash: text.hash,
      prefix: text.prefix,
      scopes: child.scopes.filter((scope) => parent.scopes.includes(scope)),
      environment: parent.environment,
      expires_at: endsAt && endsAt < child.endsAt ? endsAt : child.endsAt,
      token_expires_at: child.tokenEndsAt,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return text
}

/** Gives a child key a new secret, which invalidates the previous one. */
export async function rotateChildKey(
  tx: RootDatabase,
  now: Date,
  child: ActiveKey,
  tokenEndsAt: Date,
): Promise<KeySecret> {
  const text = generateSecret(child.environment)
  await tx
    .updateTable('api_keys')
    .set({ hash: text.hash, prefix: text.prefix, token_expires_at: tokenEndsAt, updated_at: now })
    .where('store_id', '=', child.storeId)
    .where('id', '=', child.id)
    .execute()
  return text
}

function generateSecret(environment: string): KeySecret {
  const key = `mk_${environment}_${randomSecret()}`
  return { key, hash: sha256(key), prefix: key.slice(0, prefixLength) }
}

/** Revokes a child key. Resolves when no instance accepts the key any more. */
export async function revokeChildKey(
  ctx: SystemContext,
  storeId: string,
  keyId: string,
  reason: 'client-revoked' | 'replayed',
): Promise<void> {
  const now = ctx.now()
  await ctx.root
    .updateTable('api_keys')
    .set({ revoked_at: now, revoked_reason: reason, updated_at: now })
    .where('store_id', '=', storeId)
    .where('id', '=', keyId)
    .where('parent_id', 'is not', null)
    .where('revoked_at', 'is', null)
    .execute()
  await ctx.services.accessChanged(storeId)
}

/** Deletes child keys that expired or were revoked before `before`. Returns how many were deleted. */
export async function pruneChildKeys(ctx: SystemContext, before: Date): Promise<bigint> {
  const { numDeletedRows } = await ctx.root
    .deleteFrom('api_keys')
    .where('parent_id', 'is not', null)
    .where((eb) => eb.or([eb('revoked_at', '<', before), eb('expires_at', '<', before)]))
    .executeTakeFirstOrThrow()
  return numDeletedRows
}
