/**
 * Creates and looks up the links in review requests. Each message has a random token for its order, valid for 180 days.
 * Only the token's hash is stored.
 */

import { randomBytes } from 'node:crypto'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { sha256 } from '#runtime/values/ids'

const livesMs = 180 * dayMs

/** Creates a token, and the row with its hash for the caller to insert. */
export function createToken(ctx: Context, orderId: string): { token: string; row: TokenRow } {
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

/** URL of the review form. */
export const buildReviewUrl = (ctx: Context, token: string): string =>
  `${ctx.settings.publicUrl}/storefront/${ctx.store.publicId}/reviews/form?token=${encodeURIComponent(token)}`

/**
 * Finds the order of a token; null if the token is unknown or expired. `lock` serializes concurrent uses of the token.
 */
export async function findOrderByToken(ctx: Context, token: string, lock = false): Promise<string | null> {
  let rows = ctx.db
    .selectFrom('review_tokens')
    .select('order_id')
    .where('hash', '=', sha256(token))
    .where('expires_at', '>', ctx.now())
  if (lock) rows = rows.forUpdate()
  return (await rows.executeTakeFirst())?.order_id ?? null
}
