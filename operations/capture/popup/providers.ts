/** Checks popup settings against external systems: image storage, coupons at the platform, the email provider. */

import { isDeepStrictEqual } from 'node:util'
import type { CouponSpec } from '#operations/store/index'
import { connections, coupons } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { isHttpsAddress } from '#runtime/values/https'
import { formatDiscountValue, inCurrency } from '#runtime/values/money'
import { mailingList } from '../mailing-list/connection.ts'
import { listEnabledCoupons } from './rules.ts'
import type { PopupCoupon, PopupSettings } from './schema.ts'

/** Refuses a new image URL that is neither https nor in this server's storage. */
export function refuseForeignImages(ctx: Context, before: PopupSettings, after: PopupSettings): void {
  for (const name of ['imageUrl', 'logoUrl'] as const) {
    const url = after.design[name]
    if (url === null || url === before.design[name]) continue
    if (!(isHttpsAddress(url) && !/["'<>\\]/.test(url)) && !ctx.adapters.storage.owns(url)) {
      throw refuse('bad_request', `design.${name}: must be an https address, or one of this server's storage`)
    }
  }
}

/** The coupons that shoppers can get: the popup's own coupon, or those of the prizes if the roulette is on. */
const listActiveCoupons = (settings: PopupSettings): [field: string, coupon: PopupCoupon][] =>
  listEnabledCoupons(settings).filter(([field]) => (field === 'coupon') !== settings.roulette.enabled)

/**
 * Until when a shared coupon must be valid: a person who subscribes just before the popup ends gets a code that is
 * valid for `validDays`. Null if there is no end. A unique coupon also gets null, because each code is created with its
 * own end.
 */
function getPromiseEnd(
  { mode, validDays }: PopupCoupon,
  { display: { endsAt } }: PopupSettings,
): string | null {
  if (mode !== 'shared' || endsAt === null) return null
  return new Date(Date.parse(endsAt) + (validDays ?? 0) * dayMs).toISOString()
}

/**
 * The coupons that the popup promises: each coupon and how long it must be valid. Promises that a save does not change are not
 * checked.
 */
const toPromises = (settings: PopupSettings) =>
  listActiveCoupons(settings).map(([field, coupon]) => ({
    field,
    promise: { coupon, until: getPromiseEnd(coupon, settings) },
  }))

/**
 * Creates the shared codes of new promises on the platform. A promise is new if this save turns on the popup or the
 * coupon, or changes the coupon or how long it is promised. Refuses (409) a code that exists on the platform with other
 * terms, new promises without a connected platform, and turning on pushes without a connected email provider. Not
 * inside a transaction.
 */
export async function preparePopup(ctx: Context, before: PopupSettings, after: PopupSettings): Promise<void> {
  if (after.isMailproviderEnabled && !before.isMailproviderEnabled && !(await mailingList(ctx))) {
    throw refuse('conflict', 'isMailproviderEnabled: the store has no email provider connected')
  }
  // When a popup is turned on, all promises are new, since the codes may have changed at the platform while it was off.
  const known = after.isEnabled && !before.isEnabled ? [] : toPromises(before)
  const fresh = toPromises(after).filter(
    ({ promise }) => !known.some((other) => isDeepStrictEqual(other.promise, promise)),
  )
  if (fresh.length === 0) return
  const platform = await connections.requireEcommerce(ctx)
  for (const { field, promise } of fresh) {
    const { coupon, until } = promise
    if (coupon.mode !== 'shared' || coupon.code === null) continue
    try {
      await coupons.guaranteeCoupon(
        platform,
        toCouponSpec(coupon, coupon.code, { usageLimit: null, endsAt: null }, ctx.store.currency),
        until,
      )
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const code = error.code === coupons.couponDiffers ? 'conflict' : 'bad_request'
      throw refuse(code, `${field}.code: ${error.message}`)
    }
  }
}

/** Converts a coupon to the form that the platform port takes. */
export const toCouponSpec = (
  { type, value, minimumAmount }: PopupCoupon,
  code: string,
  { usageLimit, endsAt }: Pick<CouponSpec, 'usageLimit' | 'endsAt'>,
  currency: string,
): CouponSpec => ({
  code,
  type,
  value: value === null ? null : formatDiscountValue(type, value, currency),
  minimumAmount: minimumAmount === null ? null : inCurrency(currency).formatAmount(minimumAmount),
  usageLimit,
  endsAt,
})
