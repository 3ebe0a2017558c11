/**
 * Money as whole cents in bigint, and all code that divides an amount. A cent is the smallest unit of the currency: 0.01
 * real, but 1 yen. Rounding neither loses nor adds a cent: the parts of an amount sum to the amount, and each part is
 * between 0 and the amount.
 */

/**
 * The currencies without decimals, by ISO 4217. `Intl` has others, and they change with its version. Amounts of all other
 * currencies are kept with two decimals, since columns hold no more.
 */
export const wholeCurrencies: ReadonlySet<string> = new Set(
  'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' '),
)
export const decimalsOf = (currency: string): 0 | 2 => (wholeCurrencies.has(currency) ? 0 : 2)

/** Describes a caller's amount with decimals that its currency has not, as a clause after the field's name; else null. */
export const findAmountIssue = (amount: number, currency: string): string | null =>
  decimalsOf(currency) === 0 && !Number.isInteger(amount)
    ? `must be a whole number: ${currency} has no decimals`
    : null

/** Converts between amounts of a currency, which are text or numbers in whole units, and cents. */
function buildConverter(decimals: number) {
  const unit = 10n ** BigInt(decimals)
  /** The largest amount that can be stored. */
  const centsAtMost = unit * 10n ** 12n - 1n

  /** In BRL `12.5` → 1250n. Fractions of a cent are rounded half away from zero. */
  const toCents = (amount: string | number): bigint => {
    const text = typeof amount === 'number' ? amount.toFixed(decimals) : amount.trim()
    const found = /^(-?)(\d*)(?:\.(\d*))?$/.exec(text)
    if (!found) throw new RangeError(`${text} is no amount`)
    const [, sign, whole = '', fraction = ''] = found
    const cents = BigInt(`0${whole}${fraction.slice(0, decimals).padEnd(decimals, '0')}`)
    const rounded = (fraction[decimals] ?? '0') >= '5' ? cents + 1n : cents
    return sign === '-' ? -rounded : rounded
  }

  /** In BRL 1250n → `12.50`, in JPY `1250.00`: always with the two decimals of a column. */
  const toMoney = (cents: bigint): string => {
    const positive = cents < 0n ? -cents : cents
    const fraction = String(positive % unit).padStart(2, '0')
    return `${cents < 0n ? '-' : ''}${positive / unit}.${fraction}`
  }

  return {
    toCents,
    toMoney,
    /** In BRL 12.5 → `12.50`. */
    formatAmount: (amount: number): string => toMoney(toCents(amount)),
    /** In BRL 1250n → 12.5, for JSON. */
    toNumber: (cents: bigint): number => Number(cents) / Number(unit),
    /** The price of some units minus discounts. Rounded only once, even if the price has three decimals. */
    priceAfterDiscounts(price: string, units: number, off: readonly string[]): bigint {
      const left = toMillionths(price) * BigInt(units) - sumCents(off.map(toMillionths))
      return left > 0n ? divideHalfUp(left, 1_000_000n / unit) : 0n
    },
    /**
     * Makes a provider's amount storable: rounds it to the cent and clamps it to the largest amount. An absurd price
     * that means "not for sale", or the total of a million items, must not make the rest of a batch fail.
     */
    clampAmount(amount: string | number): string {
      const isBeyond = typeof amount === 'number' && Math.abs(amount) > Number(amountAtMost)
      const cents = isBeyond ? (amount > 0 ? centsAtMost : -centsAtMost) : toCents(amount)
      return toMoney(cents > centsAtMost ? centsAtMost : cents < -centsAtMost ? -centsAtMost : cents)
    },
  }
}
type Converter = ReturnType<typeof buildConverter>
const wholeUnits = buildConverter(0)
/** Converts stored amounts of any currency. For sums, differences and comparisons, which round nothing. */
export const hundredths = buildConverter(2)

/** The converter of a currency: an amount that is divided or rounded needs it. */
export const inCurrency = (currency: string): Converter =>
  decimalsOf(currency) === 0 ? wholeUnits : hundredths

/** The value of a discount as decimal text: per cent, or an amount of the currency. */
export const formatDiscountValue = (type: string, value: number, currency: string): string =>
  (type === 'percentage' ? hundredths : inCurrency(currency)).formatAmount(value)

function toMillionths(amount: string): bigint {
  const [whole = '', decimals = ''] = amount.trim().split('.')
  return BigInt(whole + decimals.slice(0, 6).padEnd(6, '0'))
}

/** The largest amount that can be stored, in whole currency units; `countAtMost` is the largest count. */
export const amountAtMost = '999999999999.99'
const countAtMost = 2 ** 31 - 1

/** Makes a provider's count storable: truncates and clamps it. */
export const clampCount = (count: number): number =>
  Math.max(-countAtMost, Math.min(Math.trunc(count), countAtMost))

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
