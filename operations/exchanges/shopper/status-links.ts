/** The links to a request's page: a random token in each message, whose hash alone is kept. */
import { randomBytes } from 'node:crypto'
import type { Context } from '#runtime/context'
import { sha256 } from '#runtime/values/ids'

/** Where the shopper follows a request. */
export const statusUrlOf = (ctx: Context, token: string): string =>
  `${ctx.settings.publicUrl}/storefront/${ctx.store.publicId}/exchanges/requests/${token}`

/** Another link to a request, which works as long as the request is there; answers its token. */
export async function addStatusLink(ctx: Context, requestId: string): Promise<string> {
  const token = randomBytes(24).toString('base64url')
  await ctx.db
    .insertInto('exchange_tokens')
    .values({ hash: sha256(token), request_id: requestId, created_at: ctx.now() })
    .execute()
  return token
}

/** The request that a token leads to; null where there is none, or none any more. */
export async function requestOfToken(ctx: Context, token: string): Promise<string | null> {
  const row = await ctx.db
    .selectFrom('exchange_tokens')
    .select('request_id')
    .where('hash', '=', sha256(token))
    .executeTakeFirst()
  return row?.request_id ?? null
}
