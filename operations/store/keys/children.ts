/** Keys below a key: what a merchant grants to an assistant by showing one of their own (runtime, rule 15). */
import type { RootDatabase } from '#db/database'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { allScopes, type Scope } from '#runtime/roles'
import { randomSecret, sha256 } from '#runtime/values/ids'

/** Of a store, beside the keys that were made with the command line. */
const childrenAtMost = 50
const nameAtMost = 80
const prefixLength = 12

/** A key that works at this instant. */
export interface Living {
  id: string
  storeId: string
  storeName: string
  /** Of the store. */
  locale: string
  userId: string
  parentId: string | null
  scopes: Scope[]
  environment: string
  /** Its own end, or that of the key above it; null: none. */
  endsAt: Date | null
}

/** The text that a key has from now on, shown this once. */
export interface Text {
  key: string
  hash: string
  prefix: string
}

/** The key, where it works at this instant: neither it nor the one above it has ended, and its creator is a member. */
export async function findLiving(
  db: RootDatabase,
  now: Date,
  storeId: string,
  keyId: string,
): Promise<Living | null> {
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

/**
 * As `lockStore` does: of two at once for the last place one gets it, and no key ends while one is made below it. Before
 * the one above is looked at.
 */
export const lockKeys = (tx: RootDatabase, storeId: string) =>
  tx.selectFrom('stores').select('id').where('id', '=', storeId).forNoKeyUpdate().execute()

/**
 * Makes a key below another, within a transaction that holds `lockKeys`: with scopes of that, as the same member, until `endsAt` (earlier
 * where that one ends earlier). Its text holds until `tokenEndsAt`. Refuses the 51st of a store.
 */
export async function makeChild(
  tx: RootDatabase,
  now: Date,
  parent: Living,
  child: { id: string; name: string; scopes: readonly Scope[]; endsAt: Date; tokenEndsAt: Date },
): Promise<Text> {
  const { storeId } = parent
  const { active } = await tx
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('active'))
    .where('store_id', '=', storeId)
    .where('parent_id', 'is not', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  if (active >= childrenAtMost) {
    throw refuse(
      'conflict',
      `The store has ${childrenAtMost} connected assistants: revoke the key of one first`,
    )
  }
  const text = newText(parent.environment)
  const { endsAt } = parent
  await tx
    .insertInto('api_keys')
    .values({
      store_id: storeId,
      id: child.id,
      user_id: parent.userId,
      parent_id: parent.id,
      name: [...child.name].slice(0, nameAtMost).join(''),
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

/** Gives a child a new text; the one before is nothing from then on. */
export async function renewChild(
  tx: RootDatabase,
  now: Date,
  child: Living,
  tokenEndsAt: Date,
): Promise<Text> {
  const text = newText(child.environment)
  await tx
    .updateTable('api_keys')
    .set({ hash: text.hash, prefix: text.prefix, token_expires_at: tokenEndsAt, updated_at: now })
    .where('store_id', '=', child.storeId)
    .where('id', '=', child.id)
    .execute()
  return text
}

function newText(environment: string): Text {
  const key = `mk_${environment}_${randomSecret()}`
  return { key, hash: sha256(key), prefix: key.slice(0, prefixLength) }
}

/** Ends a child for good; done once no gateway takes it. */
export async function endChild(
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

/** Children that ended before `before` are listed no longer. Answers how many went. */
export async function forgetChildren(ctx: SystemContext, before: Date): Promise<bigint> {
  const { numDeletedRows } = await ctx.root
    .deleteFrom('api_keys')
    .where('parent_id', 'is not', null)
    .where((eb) => eb.or([eb('revoked_at', '<', before), eb('expires_at', '<', before)]))
    .executeTakeFirstOrThrow()
  return numDeletedRows
}
