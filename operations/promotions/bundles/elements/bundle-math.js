// What a bundle comes to, as the server reckons it: in whole cents, half up.

/** An amount is what its decimals say, not what binary made of it. */
export const centsOf = (amount) => BigInt(amount.toFixed(2).replace('.', ''))
export const amountOf = (cents) => Number(cents) / 100

/** What comes off `regular`, in cents. */
export function bundleOff({ discountType, discountValue }, regular) {
  if (discountType === 'percentage') {
    const whole = 100_000_000n
    return (2n * regular * BigInt(Math.round(discountValue * 1e6)) + whole) / (2n * whole)
  }
  const value = centsOf(discountValue)
  if (discountType === 'fixed') return value < regular ? value : regular
  return value < regular ? regular - value : 0n
}
