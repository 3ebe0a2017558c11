/** A code for a key, once (RFC 6749, section 4.1.3, and RFC 7636). */
import { createHash } from 'node:crypto'
import type { SystemContext } from '#runtime/context'
import { equalText } from '#runtime/secrets'
import { sha256 } from '#runtime/values/ids'
import { OauthError } from '../errors.ts'
import { endGrant, type Granted, grant } from './grants.ts'

export interface Exchange {
  code: string
  clientId: string
  redirectUri: string
  verifier: string
}

const noGood = 'code: is unknown, too old or spent, or is not for this client, address and verifier'

/** Refuses in one sentence whatever is wrong: whoever found a code learns nothing of it. */
export async function exchange(ctx: SystemContext, given: Exchange): Promise<Granted> {
  const hash = sha256(given.code)
  const now = ctx.now()
  const spend = await ctx.root.transaction().execute(async (tx) => {
    // Spent by whoever comes first, also with a wrong verifier: there is one try.
    const [code] = await tx
      .updateTable('oauth_codes')
      .set({ used_at: now })
      .where('hash', '=', hash)
      .where('used_at', 'is', null)
      .returningAll()
      .execute()
    if (!code) return 'not-there'
    if (now >= code.expires_at || !isFor(code, given)) return 'not-theirs'
    return grant(ctx, tx, code)
  })
  if (typeof spend !== 'string') return spend
  if (spend === 'not-there') await endReplayed(ctx, hash)
  throw new OauthError('invalid_grant', noGood)
}

const isFor = (
  code: { client_id: string; redirect_uri: string; challenge: string },
  { clientId, redirectUri, verifier }: Exchange,
): boolean =>
  code.client_id === clientId &&
  code.redirect_uri === redirectUri &&
  equalText(createHash('sha256').update(verifier).digest('base64url'), code.challenge)

/** A code that comes again is in two hands: what the first got for it ends. */
async function endReplayed(ctx: SystemContext, hash: string): Promise<void> {
  const code = await ctx.root
    .selectFrom('oauth_codes')
    .select(['store_id', 'key_id'])
    .where('hash', '=', hash)
    .executeTakeFirst()
  if (code?.key_id) await endGrant(ctx, code.store_id, code.key_id, 'replayed')
}
