/** API keys: create, list and revoke from command lines; only hashes are stored. */

import { sql } from 'kysely'
import type { Database } from '#db/database'
import { childKeys } from '#operations/store/index'
import { refuse } from '#runtime/errors'
import { allScopes, type Scope } from '#runtime/roles'
import { hasVisible } from '#runtime/values/confusables'
import { emailKey, emailKeySql } from '#runtime/values/email'
import { isId, newId, randomSecret, sha256 } from '#runtime/values/ids'
import { countCharacters } from '#runtime/values/truncate'

export interface NewKey {
  storeId: string
  /** The email of the member on whose behalf the key acts. */
  member: string
  scopes: readonly string[]
  name?: string
  environment?: 'live' | 'test'
  expiresAt?: Date | null
}

export interface CreatedKey {
  id: string
  /** Shown only once. */
  key: string
  prefix: string
  scopes: string[]
  expiresAt: string | null
}

const activeAtMost = 20
const nameAtMost = 80
const prefixLength = 12

/**
 * Creates a key. Refuses non-members, unknown scopes, a scope without another scope that it requires, an expiry in the
 * past, and the 21st active key.
 */
export async function createKey(database: Database, now: Date, input: NewKey): Promise<CreatedKey> {
  const scopes = parseScopes(input.scopes)
  if (input.expiresAt && input.expiresAt <= now) throw refuse('bad_request', 'expires: is in the past')
  const name = (input.name ?? 'API key').trim()
  if (!hasVisible(name) || countCharacters(name) > nameAtMost) {
    throw refuse('bad_request', `name: must have 1 to ${nameAtMost} characters`)
  }
  const environment = input.environment ?? 'live'
  const key = `mk_${environment}_${randomSecret()}`
  const id = newId(now.getTime())
  return database.root.transaction().execute(async (transaction) => {
    await transaction.selectFrom('stores').select('id').where('id', '=', input.storeId).forUpdate().execute()
    const member = await transaction
      .selectFrom('store_people')
      .select('user_id')
      .where('store_id', '=', input.storeId)
      .where('removed_at', 'is', null)
      .where(sql<boolean>`${emailKeySql('email')} = ${emailKey(input.member)}`)
      .executeTakeFirst()
    if (!member) throw refuse('bad_request', `member: ${input.member} is not a member of this store`)
    const { active } = await transaction
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('active'))
      .where('store_id', '=', input.storeId)
      // Keys granted to assistants have their own limit.
      .where('parent_id', 'is', null)
      .where('revoked_at', 'is', null)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
      .executeTakeFirstOrThrow()
    if (active >= activeAtMost) {
      throw refuse('conflict', `The store has ${activeAtMost} active keys: revoke one first`)
    }
    await transaction
      .insertInto('api_keys')
      .values({
        store_id: input.storeId,
        id,
        user_id: member.user_id,
        name,
        hash: sha256(key),
        prefix: key.slice(0, prefixLength),
        scopes,
        environment,
        expires_at: input.expiresAt ?? null,
        created_at: now,
        updated_at: now,
      })
      .execute()
    const expiresAt = input.expiresAt?.toISOString() ?? null
    return { id, key, prefix: key.slice(0, prefixLength), scopes, expiresAt }
  })
}

function parseScopes(given: readonly string[]): string[] {
  const scopes = [...new Set(given.map((scope) => scope.trim()).filter(Boolean))]
  if (scopes.length === 0) throw refuse('bad_request', `scopes: name at least one of ${allScopes.join(', ')}`)
  for (const scope of scopes) {
    if (!allScopes.includes(scope as Scope)) {
      throw refuse('bad_request', `scopes: ${scope} is unknown; there are ${allScopes.join(', ')}`)
    }
  }
  const extra = scopes.find((scope) => !scope.startsWith('platform:'))
  if (extra && !scopes.includes('platform:write')) {
    throw refuse('bad_request', `scopes: ${extra} needs platform:write too`)
  }
  return scopes
}

export interface ListedKey {
  id: string
  prefix: string
  name: string
  scopes: string[]
  /** Email of its creator. */
  member: string
  /** For an assistant's key: the id of the key with which it was granted; it becomes invalid together with that key. */
  parentId?: string
  expiresAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
}

/** The store's keys, newest first, including inactive ones; never with the hash. */
export async function listKeys(database: Database, storeId: string): Promise<ListedKey[]> {
  const rows = await database.root
    .selectFrom('api_keys as k')
    .innerJoin('users as u', 'u.id', 'k.user_id')
    .select(['k.id', 'k.prefix', 'k.name', 'k.scopes', 'u.email as member'])
    .select(['k.parent_id', 'k.expires_at', 'k.revoked_at', 'k.last_used_at'])
    .where('k.store_id', '=', storeId)
    .orderBy('k.id', 'desc')
    .execute()
  return rows.map(({ parent_id, expires_at, revoked_at, last_used_at, ...key }) => ({
    ...key,
    ...(parent_id === null ? {} : { parentId: parent_id }),
    expiresAt: expires_at?.toISOString() ?? null,
    revokedAt: revoked_at?.toISOString() ?? null,
    lastUsedAt: last_used_at?.toISOString() ?? null,
  }))
}

/**
 * Revokes a key and the keys that were granted with it. A key that was revoked before keeps its instant. Refuses an id
 * that is not a key of the store.
 */
export async function revokeKey(
  database: Database,
  now: Date,
  storeId: string,
  id: string,
): Promise<{ id: string; revokedAt: string }> {
  const ended = isId(id)
    ? await database.root.transaction().execute(async (tx) => {
        await childKeys.lockKeys(tx, storeId)
        return tx
          .updateTable('api_keys')
          .set((eb) => ({
            revoked_at: eb.fn.coalesce('revoked_at', eb.val(now)),
            revoked_reason: eb.fn.coalesce('revoked_reason', eb.val('revoked')),
            updated_at: now,
          }))
          .where('store_id', '=', storeId)
          .where((eb) => eb.or([eb('id', '=', id), eb('parent_id', '=', id)]))
          .returning(['id', 'revoked_at'])
          .execute()
      })
    : []
  const revoked = ended.find((each) => each.id === id.toLowerCase())
  if (!revoked) throw refuse('not_found', `id: the store has no key ${id}`)
  return { id: revoked.id, revokedAt: revoked.revoked_at!.toISOString() }
}
