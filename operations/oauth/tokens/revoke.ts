/** A client lets go of what it was granted (RFC 7009). */
import { findAccesses } from '#db/access'
import type { SystemContext } from '#runtime/context'
import { sha256 } from '#runtime/values/ids'
import { endGrant } from './grants.ts'

/**
 * Ends the grant of a refresh or access token, as a whole. What is unknown, ended or another client's is passed over,
 * as the RFC wants it; a key that no assistant was granted is not ended here.
 */
export async function revoke(ctx: SystemContext, token: string, clientId: string): Promise<void> {
  const found = (await byRefresh(ctx, token, clientId)) ?? (await byAccess(ctx, token, clientId))
  if (found) await endGrant(ctx, found.store_id, found.key_id, 'client-revoked')
}

/** By the half that stays: one that was replaced meanwhile is of the same grant. */
const byRefresh = (ctx: SystemContext, token: string, clientId: string) =>
  ctx.root
    .selectFrom('oauth_grants')
    .select(['store_id', 'key_id'])
    .where('family_hash', '=', sha256(token.split('.')[0]!))
    .where('client_id', '=', clientId)
    .executeTakeFirst()

async function byAccess(ctx: SystemContext, token: string, clientId: string) {
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
