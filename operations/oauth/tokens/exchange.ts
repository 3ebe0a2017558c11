/** Exchanges a code for a key, once (RFC 6749, section 4.1.3, and RFC 7636). */
import { createHash } from 'node:crypto'
import type { SystemContext } from '#runtime/context'
import { equalsInConstantTime } from '#runtime/secrets'
import { sha256 } from '#runtime/values/ids'
import { OauthError } from '../errors.ts'
import { createGrant, endGrant, type TokenResponse } from './grants.ts'

export interface Exchange {
  code: string
  clientId: string
  /** Null if the client omits it, as OAuth 2.1 does: the verifier proves the same. */
  redirectUri: string | null
  verifier: string
}

const invalidCode = 'code: is unknown, too old or spent, or is not for this client, address and verifier'

/** Exchanges a code. All refusals have the same message, so that a thief learns nothing about a stolen code. */
export async function exchangeCode(ctx: SystemContext, given: Exchange): Promise<TokenResponse> {
  const hash = sha256(given.code)
  const now = ctx.now()
  const spend = await ctx.root.transaction().execute(async (tx) => {
    // The first attempt marks the code as used, even with a wrong verifier.
    const [code] = await tx
      .updateTable('oauth_codes')
      .set({ used_at: now })
      .where('hash', '=', hash)
      .where('used_at', 'is', null)
      .returningAll()
      .execute()
    if (!code) return 'not-there'
    if (now >= code.expires_at || !matchesCode(code, given)) return 'not-theirs'
    return createGrant(ctx, tx, code)
  })
  if (typeof spend !== 'string') return spend
  if (spend === 'not-there') await endReplayed(ctx, hash)
  throw new OauthError('invalid_grant', invalidCode)
}

const matchesCode = (
  code: { client_id: string; redirect_uri: string; challenge: string },
  { clientId, redirectUri, verifier }: Exchange,
): boolean =>
  code.client_id === clientId &&
  (redirectUri === null || code.redirect_uri === redirectUri) &&
  equalsInConstantTime(createHash('sha256').update(verifier).digest('base64url'), code.challenge)

/** Ends the grant of the first exchange, because a code that is used again has leaked. */
async function endReplayed(ctx: SystemContext, hash: string): Promise<void> {
  const code = await ctx.root
    .selectFrom('oauth_codes')
    .select(['store_id', 'key_id'])
    .where('hash', '=', hash)
    .executeTakeFirst()
  if (code?.key_id) await endGrant(ctx, code.store_id, code.key_id, 'replayed')
}
