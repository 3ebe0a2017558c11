/** API keys: made, listed and revoked with the command lines; only hashes are kept. */
import { sql } from 'kysely'
import type { Database } from '#db/database'
import { refuse } from '#runtime/errors'
import { newId, randomSecret, sha256 } from '#runtime/ids'
import { allScopes, type Scope } from '#runtime/operation'

export interface NewKey {
  storeId: string
  /** Email of the member it acts as. */
  member: string
  scopes: readonly string[]
  name?: string
  environment?: 'live' | 'test'
  expiresAt?: Date | null
}

export interface CreatedKey {
  id: string
  /** Shown this once. */
  key: string
  prefix: string
  scopes: string[]
  expiresAt: string | null
}

const activeAtMost = 20
const prefixLength = 12

/** Refuses who is no member, unknown scopes, an extra scope alone, a past expiry and the 21st active key. */
export async function createKey(database: Database, now: Date, input: NewKey): Promise<CreatedKey> {
  const scopes = checkedScopes(input.scopes)
  if (input.expiresAt && input.expiresAt <= now) throw refuse('bad_request', 'expires: is in the past')
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
      .where(sql<boolean>`lower(email) = lower(${input.member.trim()})`)
      .executeTakeFirst()
    if (!member) throw refuse('bad_request', `member: ${input.member} is not a member of this store`)
    const { active } = await transaction
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('active'))
      .where('store_id', '=', input.storeId)
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
        name: input.name ?? 'API key',
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

function checkedScopes(given: readonly string[]): string[] {
  const scopes = [...new Set(given.map((scope) => scope.trim()).filter(Boolean))]
  if (scopes.length === 0) throw refuse('bad_request', `scopes: name at least one of ${allScopes.join(', ')}`)
  for (const scope of scopes) {
    if (!allScopes.includes(scope as Scope)) {
      throw refuse('bad_request', `scopes: ${scope} is unknown; there are ${allScopes.join(', ')}`)
    }
  }
  const extra = scopes.find((scope) => !scope.startsWith('platform:'))
  if (extra && !scopes.includes('platform:write')) {
    throw refuse('bad_request', `scopes: ${extra} needs platform:write beside it`)
  }
  return scopes
}
