/**
 * A grant: a key of the store that its client renews. The access token is that key's text; the refresh token is a half
 * that stays and a half that is made anew with it, so that one of before is known for what it is.
 */

import type { RootDatabase } from '#db/database'
import type { Row } from '#db/tables'
import { childKeys } from '#operations/store/door'
import type { SystemContext } from '#runtime/context'
import { dayMs, hourMs } from '#runtime/durations'
import { allScopes } from '#runtime/roles'
import { newId, randomSecret, sha256 } from '#runtime/values/ids'
import { OauthError } from '../errors.ts'

/** How long an access token holds. */
const tokenForMs = hourMs
/** A client that asks twice at once, or lost the answer, is no thief: refused, and nothing of it ended. */
const twiceAtOnceMs = 30_000

/** What RFC 6749 calls a successful response (section 5.1). */
export interface Granted {
  access_token: string
  token_type: 'Bearer'
  /** In seconds. */
  expires_in: number
  refresh_token: string
  scope: string
}

/** Makes the key of a code that is spent, within the transaction that spends it. */
export async function grant(
  ctx: SystemContext,
  tx: RootDatabase,
  code: Row<'oauth_codes'>,
): Promise<Granted> {
  const now = ctx.now()
  await childKeys.lockKeys(tx, code.store_id)
  const parent = await childKeys.findLiving(tx, now, code.store_id, code.parent_id)
  if (!parent) throw new OauthError('invalid_grant', 'code: the key that granted it has ended')
  const keyId = newId(now.getTime())
  const scopes = allScopes.filter((scope) => code.scopes.includes(scope))
  const text = await childKeys.makeChild(tx, now, parent, {
    id: keyId,
    name: code.name,
    scopes,
    endsAt: code.grant_ends_at,
    tokenEndsAt: tokenEnd(now),
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
  return granted(now, text.key, refresh, scopes, until)
}

/** Gives the key a new text for a refresh token. One of before ends the key: two have it, and one of them stole it. */
export async function renew(ctx: SystemContext, token: string, clientId: string): Promise<Granted> {
  const refused = new OauthError('invalid_grant', 'refresh_token: is none that is good for this client')
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
    const child = await childKeys.findLiving(tx, now, row.store_id, row.key_id)
    if (!child) throw refused
    const text = await childKeys.renewChild(tx, now, child, tokenEnd(now))
    await touchClient(tx, clientId, now)
    return granted(now, text.key, next, child.scopes, child.endsAt ? [child.endsAt] : [])
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
  // The good one in the hands of another client is refused, and no reason to end it.
  if (!row || row.refresh_hash === refreshHash) return
  if (ctx.clock.ms() - row.renewed_at.getTime() < twiceAtOnceMs) return
  await endGrant(ctx, row.store_id, row.key_id, 'replayed')
}

/** Ends the key for good, and what would renew it. Done once no gateway takes it. */
export async function endGrant(
  ctx: SystemContext,
  storeId: string,
  keyId: string,
  reason: 'client-revoked' | 'replayed',
): Promise<void> {
  // The key first: by what is left of a failure in between it can be ended again.
  await childKeys.endChild(ctx, storeId, keyId, reason)
  await ctx.root.deleteFrom('oauth_grants').where('key_id', '=', keyId).execute()
}

const tokenEnd = (now: Date): Date => new Date(now.getTime() + tokenForMs)

function granted(
  now: Date,
  key: string,
  refresh: string,
  scopes: readonly string[],
  ends: readonly Date[],
): Granted {
  const until = Math.min(tokenEnd(now).getTime(), ...ends.map((at) => at.getTime()))
  return {
    access_token: key,
    token_type: 'Bearer',
    expires_in: Math.floor((until - now.getTime()) / 1000),
    refresh_token: refresh,
    scope: scopes.join(' '),
  }
}

/** Clients that registered are kept while they are used. */
async function touchClient(tx: RootDatabase, id: string, now: Date): Promise<void> {
  const dayAgo = new Date(now.getTime() - dayMs)
  await tx
    .updateTable('oauth_clients')
    .set({ used_at: now })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('used_at', 'is', null), eb('used_at', '<', dayAgo)]))
    .execute()
}
