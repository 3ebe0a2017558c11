// Computes the price of a bundle with the same result as the server: whole cents, rounded half up.

/** Converts an amount to cents. Uses its two decimals as text, because multiplying a float by 100 is inexact. */
export const toCents = (amount) => BigInt(amount.toFixed(2).replace('.', ''))
export const toAmount = (cents) => Number(cents) / 100

/** The discount on `regular`, in cents. */
export function bundleOff({ discountType, discountValue }, regular) {
  if (discountType === 'percentage') {
    const whole = 100_000_000n
    return (2n * regular * BigInt(Math.round(discountValue * 1e6)) + whole) / (2n * whole)
  }
  const value = toCents(discountValue)
  if (discountType === 'fixed') return value < regular ? value : regular
  return value < regular ? regular - value : 0n
}
