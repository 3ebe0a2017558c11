/** What popup settings need of the outside: an address for images, the platform for coupons, the email provider. */

import { isDeepStrictEqual } from 'node:util'
import type { CouponSpec } from '#operations/store/door'
import { connections, coupons } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { isHttpsAddress } from '#runtime/values/https'
import { amountText } from '#runtime/values/money'
import { mailingList } from '../mailing-list/connection.ts'
import { enabledCoupons } from './rules.ts'
import type { PopupCoupon, PopupSettings } from './schema.ts'

/** Refuses new addresses of images that are neither https nor of this server's storage. */
export function refuseForeignImages(ctx: Context, before: PopupSettings, after: PopupSettings): void {
  for (const name of ['imageUrl', 'logoUrl'] as const) {
    const url = after.design[name]
    if (url === null || url === before.design[name]) continue
    if (!(isHttpsAddress(url) && !/["'<>\\]/.test(url)) && !ctx.adapters.storage.owns(url)) {
      throw refuse('bad_request', `design.${name}: must be an https address, or one of this server's storage`)
    }
  }
}

/** The coupons that shoppers can get: with the roulette on, those of its prizes. */
const couponsInForce = (settings: PopupSettings): [field: string, coupon: PopupCoupon][] =>
  enabledCoupons(settings).filter(([field]) => (field === 'coupon') !== settings.roulette.enabled)

/**
 * Until when a coupon is promised: who subscribes last, when the popup ends, is told a code that holds for its days.
 * Null: for ever. Of a unique one each code has its own end, and is made by it.
 */
function promisedUntil(
  { mode, validDays }: PopupCoupon,
  { display: { endsAt } }: PopupSettings,
): string | null {
  if (mode !== 'shared' || endsAt === null) return null
  return new Date(Date.parse(endsAt) + (validDays ?? 0) * dayMs).toISOString()
}

/** All that a popup promises: while it stays the same, nothing has to be judged again. */
const promisesOf = (settings: PopupSettings) =>
  couponsInForce(settings).map(([field, coupon]) => ({
    field,
    promise: { coupon, until: promisedUntil(coupon, settings) },
  }))

/**
 * Makes the shared codes of what this save promises anew: by turning the popup or a coupon on, or by changing the
 * coupon or how long it is promised. Not inside a transaction. Refuses (409) a code that the platform has with other
 * terms, a coupon without a platform, and pushes without an email provider, where this save turns them on or changes
 * them.
 */
export async function preparePopup(ctx: Context, before: PopupSettings, after: PopupSettings): Promise<void> {
  if (after.isMailproviderEnabled && !before.isMailproviderEnabled && !(await mailingList(ctx))) {
    throw refuse('conflict', 'isMailproviderEnabled: the store has no email provider connected')
  }
  // One that comes to be shown promises all that it has, whatever became of its codes meanwhile.
  const known = after.isEnabled && !before.isEnabled ? [] : promisesOf(before)
  const fresh = promisesOf(after).filter(
    ({ promise }) => !known.some((other) => isDeepStrictEqual(other.promise, promise)),
  )
  if (fresh.length === 0) return
  const platform = await connections.requireEcommerce(ctx)
  for (const { field, promise } of fresh) {
    const { coupon, until } = promise
    if (coupon.mode !== 'shared' || coupon.code === null) continue
    try {
      await coupons.promise(
        platform,
        couponSpec(coupon, coupon.code, { usageLimit: null, endsAt: null }),
        until,
      )
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const code = error.code === coupons.couponDiffers ? 'conflict' : 'bad_request'
      throw refuse(code, `${field}.code: ${error.message}`)
    }
  }
}

/** A coupon as the platform is asked for it. */
export const couponSpec = (
  { type, value, minimumAmount }: PopupCoupon,
  code: string,
  { usageLimit, endsAt }: Pick<CouponSpec, 'usageLimit' | 'endsAt'>,
): CouponSpec => ({
  code,
  type,
  value: value === null ? null : amountText(value),
  minimumAmount: minimumAmount === null ? null : amountText(minimumAmount),
  usageLimit,
  endsAt,
})
