/** Links to a request's status page. Each link has its own random token, of which only the hash is stored. */
import { randomBytes } from 'node:crypto'
import type { Context } from '#runtime/context'
import { sha256 } from '#runtime/values/ids'

/** The URL of a request's status page. */
export const buildStatusUrl = (ctx: Context, token: string): string =>
  `${ctx.settings.publicUrl}/storefront/${ctx.store.publicId}/exchanges/requests/${token}`

/** Adds a link that is valid as long as the request exists, and returns its token. */
export async function addStatusLink(ctx: Context, requestId: string): Promise<string> {
  const token = randomBytes(24).toString('base64url')
  await ctx.db
    .insertInto('exchange_tokens')
    .values({ hash: sha256(token), request_id: requestId, created_at: ctx.now() })
    .execute()
  return token
}

/** The id of the token's request, or null. */
export async function findRequestByToken(ctx: Context, token: string): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('exchange_tokens')
    .select('request_id')
    .where('hash', '=', sha256(token))
    .executeTakeFirst()
  return row?.request_id ?? null
}
