// Amounts in whole cents, with the same results as the server (`runtime/values/money.ts`). A cent is the smallest unit of
// the currency, by its `decimals`: 0.01 real, but 1 yen.

/** Converts an amount to cents. Uses its two decimals as text, because multiplying a float by 100 is inexact. */
export function toCents(amount, { decimals = 2 }) {
  const text = Number(amount).toFixed(2)
  return BigInt(decimals === 0 ? Math.round(Number(text)) : text.replace('.', ''))
}
export const toAmount = (cents, { decimals = 2 }) => Number(cents) / 10 ** decimals

/** Divides non-negative values and rounds half up. */
export const divideHalfUp = (numerator, denominator) => (2n * numerator + denominator) / (2n * denominator)

/** A percentage of a non-negative amount, rounded half up. Exact, since it has at most four decimals. */
export const applyPercentage = (cents, percentage) =>
  divideHalfUp(cents * BigInt(Math.round(percentage * 1e6)), 100_000_000n)
