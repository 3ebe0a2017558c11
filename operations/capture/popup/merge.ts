/** Merges a change into the popup's settings. No database access. */
import { mergeChange } from '#runtime/values/changes'
import { defaultCoupon, defaultPrizeColour } from './defaults.ts'
import type { PopupCoupon, PopupInput, PopupSettings, Prize } from './schema.ts'

/** Merges a change. `newId` creates the ids of new prizes. */
export function applyPopupChange(
  before: PopupSettings,
  input: PopupInput,
  newId: () => string,
): PopupSettings {
  const { prizes, ...roulette } = input.roulette ?? {}
  const after = mergeChange<PopupSettings>(before, { ...input, roulette } as never)
  return {
    ...after,
    coupon: { ...after.coupon, code: upper(after.coupon.code) },
    roulette: {
      enabled: after.roulette.enabled,
      prizes: prizes ? applyPrizeChange(before.roulette.prizes, prizes, newId) : before.roulette.prizes,
    },
  }
}

type PrizeInput = NonNullable<NonNullable<PopupInput['roulette']>['prizes']>[number]

/** Replaces the prizes. A prize with an unknown or repeated id counts as new and gets another id. */

function applyPrizeChange(
  before: readonly Prize[],
  prizes: readonly PrizeInput[],
  newId: () => string,
): Prize[] {
  const free = new Set(before.map((prize) => prize.id))
  return prizes.map(({ id, label, color, probability, stock, coupon }) => ({
    id: id !== undefined && free.delete(id) ? id : newId(),
    label,
    color: color ?? defaultPrizeColour,
    probability,
    stock: stock ?? null,
    coupon: coupon ? completeCoupon(coupon) : null,
    won: 0,
  }))
}

function completeCoupon(given: { [K in keyof PopupCoupon]?: PopupCoupon[K] | undefined }): PopupCoupon {
  const coupon = mergeChange<PopupCoupon>(defaultCoupon, given as never)
  // Free shipping has no value, and the default value is a percentage.
  const value = given.value === undefined && coupon.type === 'free-shipping' ? null : coupon.value
  return { ...coupon, code: upper(coupon.code), value }
}

const upper = (code: string | null): string | null => code?.toUpperCase() ?? null
