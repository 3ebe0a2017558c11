/** Revocation of a grant by its client (RFC 7009). */
import { findAccesses } from '#db/access'
import type { SystemContext } from '#runtime/context'
import { sha256 } from '#runtime/values/ids'
import { endGrant } from './grants.ts'

/**
 * Ends the whole grant of a refresh or access token. Ignores an unknown, ended or foreign token, as the RFC requires, and a
 * key that is not a grant.
 */
export async function revokeToken(ctx: SystemContext, token: string, clientId: string): Promise<void> {
  const found =
    (await findByRefreshToken(ctx, token, clientId)) ?? (await findByAccessToken(ctx, token, clientId))
  if (found) await endGrant(ctx, found.store_id, found.key_id, 'client-revoked')
}

/** Finds the grant by the constant half of the refresh token, so that a replaced token works too. */
const findByRefreshToken = (ctx: SystemContext, token: string, clientId: string) =>
  ctx.root
    .selectFrom('oauth_grants')
    .select(['store_id', 'key_id'])
    .where('family_hash', '=', sha256(token.split('.')[0]!))
    .where('client_id', '=', clientId)
    .executeTakeFirst()

async function findByAccessToken(ctx: SystemContext, token: string, clientId: string) {
  const hash = sha256(token)
  const access = await (await findAccesses(ctx.services.database, [hash]))[0]
  if (!access?.parentKeyId) return undefined
  return ctx.root
    .selectFrom('oauth_grants')
    .select(['store_id', 'key_id'])
    .where('key_id', '=', access.keyId)
    .where('client_id', '=', clientId)
    .executeTakeFirst()
}
