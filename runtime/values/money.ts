/**
 * Money: whole cents in bigint, and every way an amount is divided. Nothing is made or lost by rounding: the parts of an
 * amount sum to it, none is below 0, and none is above it.
 */

/** `12.5` as 1250n, of decimal text or a number; what is finer than a cent goes half away from zero. */
export function toCents(amount: string | number): bigint {
  // biome-ignore lint/plugin/cents: the one place for amounts
  const text = typeof amount === 'number' ? amount.toFixed(2) : amount.trim()
  const found = /^(-?)(\d*)(?:\.(\d*))?$/.exec(text)
  if (!found) throw new RangeError(`${text} is no amount`)
  const [, sign, whole, decimals = ''] = found as unknown as [string, string, string, string?]
  const cents = BigInt(whole || '0') * 100n + BigInt(decimals.slice(0, 2).padEnd(2, '0'))
  const rounded = (decimals[2] ?? '0') >= '5' ? cents + 1n : cents
  return sign === '-' ? -rounded : rounded
}

/** 1250n as `12.50`. */
export function toMoney(cents: bigint): string {
  const positive = cents < 0n ? -cents : cents
  return `${cents < 0n ? '-' : ''}${positive / 100n}.${String(positive % 100n).padStart(2, '0')}`
}

/** So many units less what is taken off them, to the cent: rounded once, also where a price has three decimals. */
export function unitsLess(price: string, units: number, off: readonly string[]): bigint {
  const left = millionths(price) * BigInt(units) - sumOf(off.map(millionths))
  return left > 0n ? halfUp(left, 10_000n) : 0n
}

function millionths(amount: string): bigint {
  const [whole = '', decimals = ''] = amount.trim().split('.')
  return BigInt(whole + decimals.slice(0, 6).padEnd(6, '0'))
}

/** The most that an amount is kept as, in whole currency units; and a count. */
export const amountAtMost = '999999999999.99'
const centsAtMost = toCents(amountAtMost)
const countAtMost = 2 ** 31 - 1

/**
 * What somebody else says an amount is, as it can be kept: to the cent, and at the bound where it is beyond it. A price
 * that stands for "not for sale", or a sum of a million of everything, must not hold up all that comes with it.
 */
export function keptAmount(amount: string | number): string {
  const isBeyond = typeof amount === 'number' && Math.abs(amount) > Number(amountAtMost)
  const cents = isBeyond ? (amount > 0 ? centsAtMost : -centsAtMost) : toCents(amount)
  return toMoney(cents > centsAtMost ? centsAtMost : cents < -centsAtMost ? -centsAtMost : cents)
}

/** The same of units. */
export const keptCount = (count: number): number =>
  Math.max(-countAtMost, Math.min(Math.trunc(count), countAtMost))

/** 12.5 as `12.50`. */
export const amountText = (amount: number): string => toMoney(toCents(amount))

/** 1250n as 12.5, for JSON. */
export const toNumber = (cents: bigint): number => Number(cents) / 100

export const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const notNegative = (cents: bigint): bigint => (cents > 0n ? cents : 0n)
export const sumOf = (cents: Iterable<bigint>): bigint => {
  let sum = 0n
  for (const each of cents) sum += each
  return sum
}

/** Of what is not negative. */
export const halfUp = (numerator: bigint, denominator: bigint): bigint =>
  (2n * numerator + denominator) / (2n * denominator)

/** So much per cent (up to six decimals) of an amount that is not negative, half up. */
export const percentageOf = (cents: bigint, percentage: number): bigint =>
  halfUp(cents * BigInt(Math.round(percentage * 1e6)), 100_000_000n)

/** `part` of `whole` in per cent, halves away from zero; null where the whole is 0. */
export function percentOf(part: bigint, whole: bigint, decimals: 0 | 1 | 2): number | null {
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
 * What the first units of a line come to, rounded cumulatively: the shares of all units sum to the line, however they
 * are put together.
 */
export const firstUnits = (cents: bigint, units: number, of: number): bigint =>
  of <= 0 ? 0n : halfUp(cents * BigInt(units), BigInt(of))

/** What units side by side come to, counted from 0: from one to before another. */
export const unitsBetween = (cents: bigint, from: number, to: number, of: number): bigint =>
  firstUnits(cents, to, of) - firstUnits(cents, from, of)

/** What one unit of a line comes to, counted from 0. */
export const unitShare = (cents: bigint, unit: number, of: number): bigint =>
  unitsBetween(cents, unit, unit + 1, of)

/** What units of a line come to, by their places: counted by runs, as a line may have a million. */
export function unitsWorth(cents: bigint, units: readonly number[], of: number): bigint {
  let sum = 0n
  let first = 0
  for (let at = 1; at <= units.length; at += 1) {
    const last = units[at - 1]!
    if (units[at] === last + 1) continue
    sum += unitsBetween(cents, units[first]!, last + 1, of)
    first = at
  }
  return sum
}

/**
 * An amount over weights, none of them negative, to the cent: what floors leave goes to the largest remainders, the
 * earlier first. An amount that is not above the weights' sum puts no share above its weight. All 0 where the weights
 * are.
 */
export function splitBy(cents: bigint, weights: readonly bigint[]): bigint[] {
  const whole = sumOf(weights)
  if (whole === 0n) return weights.map(() => 0n)
  const shares = weights.map((weight) => (cents * weight) / whole)
  let left = cents - sumOf(shares)
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

/** An amount in equal parts, the first with what is left over. */
export function splitEvenly(cents: bigint, parts: number): { first: bigint; others: bigint } {
  const others = cents / BigInt(parts)
  return { first: cents - others * BigInt(parts - 1), others }
}
