/** Creates unique codes on the platform, immediately if possible, otherwise by a job. */

// biome-ignore lint/style/noRestrictedImports: each wait takes a signal
import { setTimeout as wait } from 'node:timers/promises'
import { connections, coupons, notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { ApiError } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { newsletterCouponEmail } from '../handles.ts'
import { toCouponSpec } from '../popup/providers.ts'
import type { PromisedCoupon } from './codes.ts'

const maxWaitMs = 3000

interface Pending {
  code: string
  coupon: PromisedCoupon
}

/**
 * Creates a subscriber's code while they wait, for at most three seconds. Returns the result of `shown`, which runs in
 * the transaction that marks the code as issued. Returns null if the platform was too slow; then the job creates the
 * code. `emails` is true if the code is also emailed. Not inside a transaction.
 */
export async function issueImmediately<T>(
  ctx: Context,
  subscriberId: string,
  pending: Pending,
  { emails }: { emails: boolean },
  shown: (tx: Context) => Promise<T>,
): Promise<T | null> {
  const stop = new AbortController()
  const tooLate = wait(maxWaitMs, false, { signal: stop.signal }).catch(() => false)
  const creation = makeCoupon(ctx, pending).then(
    () => true,
    (error: unknown) => {
      ctx.log.warn({ err: error, subscriberId }, 'coupon not created immediately, left to the job')
      return false
    },
  )
  const isMade = await Promise.race([creation, tooLate])
  stop.abort()
  if (!isMade) return null
  return ctx.transaction(async (tx) => {
    await markIssued(tx, subscriberId, emails)
    return shown(tx)
  })
}

async function makeCoupon(ctx: Context, { code, coupon }: Pending): Promise<void> {
  const platform = await connections.requireEcommerce(ctx)
  await coupons.guaranteeCoupon(
    platform,
    toCouponSpec(coupon, code, { usageLimit: 1, endsAt: coupon.expiresAt }, ctx.store.currency),
  )
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
 * Creates a pending code, in a job. The subscriber has not seen the code, so it is emailed if they gave an email. Throws
 * `Unavailable` if the platform does not answer, so that the job is retried.
 */
export async function issuePending(ctx: Context, subscriberId: string): Promise<void> {
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
    if (!(error instanceof Refused || error instanceof ApiError)) throw error
    await failCoupon(ctx, subscriberId, error.message)
    return
  }
  await ctx.transaction((tx) => markIssued(tx, subscriberId, row.email !== null))
}

/** Marks a subscriber's code as failed and notifies the merchant once. `reason` is a sentence for the merchant. */
export async function failCoupon(ctx: Context, subscriberId: string, reason: string): Promise<void> {
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
