/** Amounts as whole cents: added, compared and divided without floating point. */

/** `12.5` as 1250n; takes decimal text, as the database gives it. */
export function toCents(amount: string): bigint {
  const isNegative = amount.startsWith('-')
  const [whole = '0', decimals = ''] = amount.slice(isNegative ? 1 : 0).split('.')
  const cents = BigInt(whole) * 100n + BigInt(decimals.slice(0, 2).padEnd(2, '0'))
  return isNegative ? -cents : cents
}

/** 1250n as `12.50`. */
export function toMoney(cents: bigint): string {
  const positive = cents < 0n ? -cents : cents
  return `${cents < 0n ? '-' : ''}${positive / 100n}.${String(positive % 100n).padStart(2, '0')}`
}

/** 1250n as 12.5, for JSON. */
export const toNumber = (cents: bigint): number => Number(cents) / 100

/** `part` of `whole` in per cent, halves away from zero; null where the whole is 0. */
export function percentOf(part: bigint, whole: bigint, decimals: 1 | 2): number | null {
  if (whole === 0n) return null
  const scale = decimals === 1 ? 10n : 100n
  const numerator = 2n * part * 100n * scale
  const isNegative = numerator < 0n !== whole < 0n
  const top = numerator < 0n ? -numerator : numerator
  const bottom = whole < 0n ? -whole : whole
  const rounded = (top + bottom) / (2n * bottom)
  return Number(isNegative ? -rounded : rounded) / Number(scale)
}
