/** Generates coupon codes of subscribers, and defines the coupon that a subscriber was promised. */

import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { randomText } from '#runtime/values/ids'
import type { PopupCoupon } from '../popup/schema.ts'

/** Characters of a code, without those that look alike. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** The coupon as stored in a subscriber's row. */
export interface PromisedCoupon extends PopupCoupon {
  expiresAt: string | null
}

export function toPromisedCoupon(ctx: Context, coupon: PopupCoupon): PromisedCoupon {
  const { validDays } = coupon
  const expiresAt = validDays === null ? null : new Date(ctx.clock.ms() + validDays * dayMs).toISOString()
  return { ...coupon, expiresAt }
}

/** Returns the shared code, or generates a random unique code. */
export const generateCode = ({ mode, code, prefix }: PopupCoupon): string =>
  mode === 'shared' && code !== null ? code : `${prefix ?? 'POP'}-${randomText(6, alphabet)}`
