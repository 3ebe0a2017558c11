/** Codes of their own, made on the platform: tried at once, else by the job. */

// biome-ignore lint/style/noRestrictedImports: each wait takes a signal
import { setTimeout as wait } from 'node:timers/promises'
import { connections, coupons, notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refusal } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { newsletterCouponEmail } from '../handles.ts'
import { couponSpec } from '../popup/providers.ts'
import type { PromisedCoupon } from './codes.ts'

const atOnceMs = 3000

interface Pending {
  code: string
  coupon: PromisedCoupon
}

/**
 * Makes a subscriber's code while they wait, for three seconds at most. Not inside a transaction. Answers what `shown`
 * does, in the transaction that says so, where it can be shown; null: the job makes it. `emails`: it is emailed all the same.
 */
export async function issueAtOnce<T>(
  ctx: Context,
  subscriberId: string,
  pending: Pending,
  { emails }: { emails: boolean },
  shown: (tx: Context) => Promise<T>,
): Promise<T | null> {
  const stop = new AbortController()
  const tooLate = wait(atOnceMs, false, { signal: stop.signal }).catch(() => false)
  const made = makeCoupon(ctx, pending).then(
    () => true,
    (error: unknown) => {
      ctx.log.warn({ err: error, subscriberId }, 'a coupon could not be made at once')
      return false
    },
  )
  const isMade = await Promise.race([made, tooLate])
  stop.abort()
  if (!isMade) return null
  return ctx.transaction(async (tx) => {
    await markIssued(tx, subscriberId, emails)
    return shown(tx)
  })
}

async function makeCoupon(ctx: Context, { code, coupon }: Pending): Promise<void> {
  const platform = await connections.requireEcommerce(ctx)
  await coupons.promise(platform, couponSpec(coupon, code, { usageLimit: 1, endsAt: coupon.expiresAt }))
}

async function markIssued(ctx: Context, subscriberId: string, emails: boolean): Promise<void> {
  const issued = await ctx.db
    .updateTable('newsletter_subscribers')
    .set({ coupon_status: 'issued', coupon_email: emails ? 'due' : null, updated_at: ctx.now() })
    .where('id', '=', subscriberId)
    .where('coupon_status', '=', 'pending')
    .returning('id')
    .executeTakeFirst()
  if (issued && emails) await ctx.queue(newsletterCouponEmail, { subscriberId })
}

/**
 * What the job does for a code that is still pending: makes it, and emails it where the subscriber gave an address,
 * since it was not shown. Throws `Unavailable` to be run again.
 */
export async function issueLater(ctx: Context, subscriberId: string): Promise<void> {
  const row = await ctx.db
    .selectFrom('newsletter_subscribers')
    .select(['email', 'coupon', 'coupon_code'])
    .where('id', '=', subscriberId)
    .where('coupon_status', '=', 'pending')
    .executeTakeFirst()
  if (!row?.coupon_code) return
  try {
    await makeCoupon(ctx, { code: row.coupon_code, coupon: row.coupon as PromisedCoupon })
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Refusal)) throw error
    await giveUpCoupon(ctx, subscriberId, error.message)
    return
  }
  await ctx.transaction((tx) => markIssued(tx, subscriberId, row.email !== null))
}

/** No code for this subscriber; the merchant is told once. `reason`: a plain sentence. */
export async function giveUpCoupon(ctx: Context, subscriberId: string, reason: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const failed = await tx.db
      .updateTable('newsletter_subscribers')
      .set({ coupon_status: 'failed', coupon_email: null, updated_at: tx.now() })
      .where('id', '=', subscriberId)
      .where('coupon_status', '=', 'pending')
      .returning(['coupon_code', 'email', 'phone'])
      .executeTakeFirst()
    if (!failed) return
    await notify(tx, {
      type: 'newsletter-coupon-failed',
      level: 'error',
      title: 'A coupon of the popup could not be made',
      message: `${failed.coupon_code} was promised to ${failed.email ?? failed.phone}: ${reason}`,
      data: { subscriberId, code: failed.coupon_code },
      dedupeKey: `newsletter-coupon-failed:${subscriberId}`,
    })
  })
}
