/**
 * Money as whole cents in bigint, and all code that divides an amount. Rounding neither loses nor adds a cent: the
 * parts of an amount sum to the amount, and each part is between 0 and the amount.
 */

/** Converts an amount to cents: `12.5` → 1250n. Fractions of a cent are rounded half away from zero. */
export function toCents(amount: string | number): bigint {
  // biome-ignore lint/plugin/cents: the only file that rounds amounts
  const text = typeof amount === 'number' ? amount.toFixed(2) : amount.trim()
  const found = /^(-?)(\d*)(?:\.(\d*))?$/.exec(text)
  if (!found) throw new RangeError(`${text} is no amount`)
  const [, sign, whole, decimals = ''] = found as unknown as [string, string, string, string?]
  const cents = BigInt(whole || '0') * 100n + BigInt(decimals.slice(0, 2).padEnd(2, '0'))
  const rounded = (decimals[2] ?? '0') >= '5' ? cents + 1n : cents
  return sign === '-' ? -rounded : rounded
}

/** 1250n → `12.50`. */
export function toMoney(cents: bigint): string {
  const positive = cents < 0n ? -cents : cents
  return `${cents < 0n ? '-' : ''}${positive / 100n}.${String(positive % 100n).padStart(2, '0')}`
}

/** The price of some units minus discounts, in cents. Rounded only once, even if the price has three decimals. */
export function priceAfterDiscounts(price: string, units: number, off: readonly string[]): bigint {
  const left = toMillionths(price) * BigInt(units) - sumCents(off.map(toMillionths))
  return left > 0n ? divideHalfUp(left, 10_000n) : 0n
}

function toMillionths(amount: string): bigint {
  const [whole = '', decimals = ''] = amount.trim().split('.')
  return BigInt(whole + decimals.slice(0, 6).padEnd(6, '0'))
}

/** The largest amount that can be stored, in whole currency units; `countAtMost` is the largest count. */
export const amountAtMost = '999999999999.99'
const centsAtMost = toCents(amountAtMost)
const countAtMost = 2 ** 31 - 1

/**
 * Makes a provider's amount storable: rounds it to the cent and clamps it to the largest amount. An absurd price that
 * means "not for sale", or the total of a million items, must not make the rest of a batch fail.
 */
export function clampAmount(amount: string | number): string {
  const isBeyond = typeof amount === 'number' && Math.abs(amount) > Number(amountAtMost)
  const cents = isBeyond ? (amount > 0 ? centsAtMost : -centsAtMost) : toCents(amount)
  return toMoney(cents > centsAtMost ? centsAtMost : cents < -centsAtMost ? -centsAtMost : cents)
}

/** Makes a provider's count storable: truncates and clamps it. */
export const clampCount = (count: number): number =>
  Math.max(-countAtMost, Math.min(Math.trunc(count), countAtMost))

/** 12.5 → `12.50`. */
export const formatAmount = (amount: number): string => toMoney(toCents(amount))

/** 1250n → 12.5, for JSON. */
export const toNumber = (cents: bigint): number => Number(cents) / 100

export const minCents = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const atLeastZero = (cents: bigint): bigint => (cents > 0n ? cents : 0n)
export const sumCents = (cents: Iterable<bigint>): bigint => {
  let sum = 0n
  for (const each of cents) sum += each
  return sum
}

/** Divides non-negative values and rounds half up. */
export const divideHalfUp = (numerator: bigint, denominator: bigint): bigint =>
  (2n * numerator + denominator) / (2n * denominator)

/** A percentage (up to six decimals) of a non-negative amount, rounded half up. */
export const applyPercentage = (cents: bigint, percentage: number): bigint =>
  divideHalfUp(cents * BigInt(Math.round(percentage * 1e6)), 100_000_000n)

/** `part` of `whole` in per cent, halves away from zero; null if the whole is 0. */
export function toPercent(part: bigint, whole: bigint, decimals: 0 | 1 | 2): number | null {
  if (whole === 0n) return null
  const scale = 10n ** BigInt(decimals)
  const numerator = 2n * part * 100n * scale
  const isNegative = numerator < 0n !== whole < 0n
  const top = numerator < 0n ? -numerator : numerator
  const bottom = whole < 0n ? -whole : whole
  const rounded = (top + bottom) / (2n * bottom)
  return Number(isNegative ? -rounded : rounded) / Number(scale)
}

/**
 * The share of a line's amount that belongs to its first `units` of `of` units. The shares of ranges are differences of
 * such values, so they always sum to the line's amount.
 */
export const firstUnitsShare = (cents: bigint, units: number, of: number): bigint =>
  of <= 0 ? 0n : divideHalfUp(cents * BigInt(units), BigInt(of))

/** The share of the units `from` to `to - 1` of a line, counted from 0. */
export const unitRangeShare = (cents: bigint, from: number, to: number, of: number): bigint =>
  firstUnitsShare(cents, to, of) - firstUnitsShare(cents, from, of)

/** The share of one unit of a line, counted from 0. */
export const singleUnitShare = (cents: bigint, unit: number, of: number): bigint =>
  unitRangeShare(cents, unit, unit + 1, of)

/** The share of the units at these sorted positions. Adjacent units are added as one range: there may be a million. */
export function unitsShare(cents: bigint, units: readonly number[], of: number): bigint {
  let sum = 0n
  let first = 0
  for (let at = 1; at <= units.length; at += 1) {
    const last = units[at - 1]!
    if (units[at] === last + 1) continue
    sum += unitRangeShare(cents, units[first]!, last + 1, of)
    first = at
  }
  return sum
}

/**
 * Splits an amount in proportion to non-negative weights. Remaining cents go to the shares with the largest fractions;
 * on a tie, to the earlier share. If the amount does not exceed the sum of the weights, no share exceeds its weight. If
 * all weights are 0, all shares are 0.
 */
export function splitBy(cents: bigint, weights: readonly bigint[]): bigint[] {
  const whole = sumCents(weights)
  if (whole === 0n) return weights.map(() => 0n)
  const shares = weights.map((weight) => (cents * weight) / whole)
  let left = cents - sumCents(shares)
  const byRemainder = weights
    .map((weight, at) => ({ at, remainder: (cents * weight) % whole }))
    .sort((a, b) => (a.remainder === b.remainder ? a.at - b.at : a.remainder > b.remainder ? -1 : 1))
  for (const { at } of byRemainder) {
    if (left === 0n) break
    shares[at]! += 1n
    left -= 1n
  }
  return shares
}

/** Splits an amount into equal parts; the first part also gets the remainder. */
export function splitEvenly(cents: bigint, parts: number): { first: bigint; others: bigint } {
  const others = cents / BigInt(parts)
  return { first: cents - others * BigInt(parts - 1), others }
}
