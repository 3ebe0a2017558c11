/** The links in requests: a random token for each message, of one order, for 180 days. Its hash alone is kept. */

import { randomBytes } from 'node:crypto'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { sha256 } from '#runtime/values/ids'

const livesMs = 180 * dayMs

/** A new token, and the row that knows it. */
export function newToken(ctx: Context, orderId: string): { token: string; row: TokenRow } {
  const token = randomBytes(24).toString('base64url')
  const now = ctx.now()
  const expires_at = new Date(now.getTime() + livesMs)
  return { token, row: { hash: sha256(token), order_id: orderId, expires_at, created_at: now } }
}

export interface TokenRow {
  hash: string
  order_id: string
  expires_at: Date
  created_at: Date
}

/** Where the customer writes. */
export const reviewUrl = (ctx: Context, token: string): string =>
  `${ctx.settings.publicUrl}/storefront/${ctx.store.publicId}/reviews/form?token=${encodeURIComponent(token)}`

/** The order that a token belongs to; null for one that is unknown or past its time. `lock`: against a second use. */
export async function orderOfToken(ctx: Context, token: string, lock = false): Promise<string | null> {
  let rows = ctx.db
    .selectFrom('review_tokens')
    .select('order_id')
    .where('hash', '=', sha256(token))
    .where('expires_at', '>', ctx.now())
  if (lock) rows = rows.forUpdate()
  return (await rows.executeTakeFirst())?.order_id ?? null
}
