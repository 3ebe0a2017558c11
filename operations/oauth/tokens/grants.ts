/**
 * Grants: keys of the store that their client renews. The access token is the key's text. The refresh token has a constant
 * half and a half that is replaced at each renewal, so that an old refresh token is recognized as a replay.
 */

import type { RootDatabase } from '#db/database'
import type { Row } from '#db/tables'
import { childKeys } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { dayMs, hourMs } from '#runtime/durations'
import { allScopes } from '#runtime/roles'
import { newId, randomSecret, sha256 } from '#runtime/values/ids'
import { OauthError } from '../errors.ts'

/** Lifetime of an access token. */
const accessTokenMs = hourMs
/**
 * Grace period after a renewal, for a client that sends its request twice or lost the response: the old refresh token is
 * refused, but the grant does not end.
 */
const reuseGraceMs = 30_000

/** The successful response of RFC 6749, section 5.1. */
export interface TokenResponse {
  access_token: string
  token_type: 'Bearer'
  /** In seconds. */
  expires_in: number
  refresh_token: string
  scope: string
}

/** Creates the key that a code is exchanged for, in the transaction that marks the code as used. */
export async function createGrant(
  ctx: SystemContext,
  tx: RootDatabase,
  code: Row<'oauth_codes'>,
): Promise<TokenResponse> {
  const now = ctx.now()
  await childKeys.lockKeys(tx, code.store_id)
  const parent = await childKeys.findActiveKey(tx, now, code.store_id, code.parent_id)
  if (!parent) throw new OauthError('invalid_grant', 'code: the key that granted it has ended')
  const keyId = newId(now.getTime())
  const scopes = allScopes.filter((scope) => code.scopes.includes(scope))
  const text = await childKeys.createChildKey(tx, now, parent, {
    id: keyId,
    name: code.name,
    scopes,
    endsAt: code.grant_ends_at,
    tokenEndsAt: computeTokenEnd(now),
  })
  const family = randomSecret()
  const refresh = `${family}.${randomSecret()}`
  await tx
    .insertInto('oauth_grants')
    .values({
      family_hash: sha256(family),
      refresh_hash: sha256(refresh),
      renewed_at: now,
      client_id: code.client_id,
      store_id: code.store_id,
      key_id: keyId,
      expires_at: code.grant_ends_at,
      created_at: now,
    })
    .execute()
  await tx.updateTable('oauth_codes').set({ key_id: keyId }).where('hash', '=', code.hash).execute()
  await touchClient(tx, code.client_id, now)
  const until = [code.grant_ends_at, parent.endsAt].flatMap((at) => (at ? [at] : []))
  return toTokenResponse(now, text.key, refresh, scopes, until)
}

/**
 * Replaces the key's text and refresh token. A refresh token that was replaced before ends the key: two parties have the
 * token, so one of them stole it.
 */
export async function renewGrant(
  ctx: SystemContext,
  token: string,
  clientId: string,
): Promise<TokenResponse> {
  const refused = new OauthError('invalid_grant', 'refresh_token: is not valid for this client')
  const family = sha256(token.split('.')[0]!)
  const now = ctx.now()
  const renewed = await ctx.root.transaction().execute(async (tx) => {
    const next = `${token.split('.')[0]}.${randomSecret()}`
    const [row] = await tx
      .updateTable('oauth_grants')
      .set({ refresh_hash: sha256(next), renewed_at: now })
      .where('family_hash', '=', family)
      .where('refresh_hash', '=', sha256(token))
      .where('client_id', '=', clientId)
      .where('expires_at', '>', now)
      .returning(['store_id', 'key_id', 'expires_at'])
      .execute()
    if (!row) return null
    const child = await childKeys.findActiveKey(tx, now, row.store_id, row.key_id)
    if (!child) throw refused
    const text = await childKeys.rotateChildKey(tx, now, child, computeTokenEnd(now))
    await touchClient(tx, clientId, now)
    return toTokenResponse(now, text.key, next, child.scopes, child.endsAt ? [child.endsAt] : [])
  })
  if (renewed) return renewed
  await endReplayed(ctx, family, sha256(token))
  throw refused
}

async function endReplayed(ctx: SystemContext, family: string, refreshHash: string): Promise<void> {
  const row = await ctx.root
    .selectFrom('oauth_grants')
    .select(['store_id', 'key_id', 'refresh_hash', 'renewed_at'])
    .where('family_hash', '=', family)
    .executeTakeFirst()
  // The current token sent by another client is refused, but does not end the grant.
  if (!row || row.refresh_hash === refreshHash) return
  if (ctx.clock.ms() - row.renewed_at.getTime() < reuseGraceMs) return
  await endGrant(ctx, row.store_id, row.key_id, 'replayed')
}

/** Ends the key and its grant for good. Returns once no gateway accepts the key. */
export async function endGrant(
  ctx: SystemContext,
  storeId: string,
  keyId: string,
  reason: 'client-revoked' | 'replayed',
): Promise<void> {
  // The key is revoked first: if the deletion below fails, the remaining grant allows another attempt.
  await childKeys.revokeChildKey(ctx, storeId, keyId, reason)
  await ctx.root.deleteFrom('oauth_grants').where('key_id', '=', keyId).execute()
}

const computeTokenEnd = (now: Date): Date => new Date(now.getTime() + accessTokenMs)

function toTokenResponse(
  now: Date,
  key: string,
  refresh: string,
  scopes: readonly string[],
  ends: readonly Date[],
): TokenResponse {
  const until = Math.min(computeTokenEnd(now).getTime(), ...ends.map((at) => at.getTime()))
  return {
    access_token: key,
    token_type: 'Bearer',
    expires_in: Math.floor((until - now.getTime()) / 1000),
    refresh_token: refresh,
    scope: scopes.join(' '),
  }
}

/** Marks a registered client as used, so that the sweep does not delete it. */
async function touchClient(tx: RootDatabase, id: string, now: Date): Promise<void> {
  const dayAgo = new Date(now.getTime() - dayMs)
  await tx
    .updateTable('oauth_clients')
    .set({ used_at: now })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('used_at', 'is', null), eb('used_at', '<', dayAgo)]))
    .execute()
}
