/** What popup settings need of the outside: an address for images, the platform for coupons, the email provider. */
import { isDeepStrictEqual } from 'node:util'
import { connections, coupons } from '#operations/store/lib/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { CouponSpec } from '#runtime/ports/ecommerce/port'
import { Refused } from '#runtime/ports/errors'
import { enabledCoupons } from './popup-rules.ts'
import type { PopupCoupon, PopupSettings } from './popup-schema.ts'

/** Refuses new addresses of images that are neither https nor of this server's storage. */
export function refuseForeignImages(ctx: Context, before: PopupSettings, after: PopupSettings): void {
  for (const name of ['imageUrl', 'logoUrl'] as const) {
    const url = after.design[name]
    if (url === null || url === before.design[name]) continue
    const isHttps = /^https:\/\/[^\s/"'<>\\]+[^\s"'<>\\]*$/.test(url) && URL.canParse(url)
    if (!isHttps && !ctx.adapters.storage.owns(url)) {
      throw refuse('bad_request', `design.${name}: must be an https address, or one of this server's storage`)
    }
  }
}

/** The coupons that shoppers can get: with the roulette on, those of its prizes. */
export const couponsInForce = (settings: PopupSettings): [field: string, coupon: PopupCoupon][] =>
  enabledCoupons(settings).filter(([field]) => (field === 'coupon') !== settings.roulette.enabled)

/**
 * Makes the shared codes that this save turns on or changes. Not inside a transaction. Refuses (409) a code that the
 * platform has with other terms, a coupon without
 * a platform and pushes without an email provider, where this save turns them on or changes them.
 */
export async function preparePopup(ctx: Context, before: PopupSettings, after: PopupSettings): Promise<void> {
  if (after.isMailproviderEnabled && !before.isMailproviderEnabled && !(await connections.mailingList(ctx))) {
    throw refuse('conflict', 'isMailproviderEnabled: the store has no email provider connected')
  }
  const known = couponsInForce(before).map(([, coupon]) => coupon)
  const fresh = couponsInForce(after).filter(
    ([, coupon]) => !known.some((other) => isDeepStrictEqual(other, coupon)),
  )
  if (fresh.length === 0) return
  const platform = await connections.requireEcommerce(ctx)
  for (const [field, coupon] of fresh) {
    if (coupon.mode !== 'shared' || coupon.code === null) continue
    try {
      const spec = couponSpec(coupon, coupon.code, { usageLimit: null, endsAt: null })
      await coupons.promise(platform, spec, after.display.endsAt)
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
  value: value === null ? null : value.toFixed(2),
  minimumAmount: minimumAmount === null ? null : minimumAmount.toFixed(2),
  usageLimit,
  endsAt,
})
