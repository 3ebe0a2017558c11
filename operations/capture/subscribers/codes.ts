/** Coupon codes of subscribers, and what a subscriber was promised. */

import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { randomText } from '#runtime/values/ids'
import type { PopupCoupon } from '../popup/schema.ts'

/** Without letters and digits that look alike. */
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** What a subscriber's row keeps of the coupon. */
export interface PromisedCoupon extends PopupCoupon {
  expiresAt: string | null
}

export function promised(ctx: Context, coupon: PopupCoupon): PromisedCoupon {
  const { validDays } = coupon
  const expiresAt = validDays === null ? null : new Date(ctx.clock.ms() + validDays * dayMs).toISOString()
  return { ...coupon, expiresAt }
}

/** The shared code, or one that nobody else has. */
export const codeOf = ({ mode, code, prefix }: PopupCoupon): string =>
  mode === 'shared' && code !== null ? code : `${prefix ?? 'POP'}-${randomText(6, letters)}`
