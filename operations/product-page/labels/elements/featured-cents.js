// The price of paying by another method, calculated like the server: in whole cents, half up.

/** `price`: the variant's; null if it shows none. */
export function featuredCents({ discountPercentage, minAmount }, price) {
  const base = toCents(price)
  if (base === null || base < toCents(minAmount)) return null
  const percentage = BigInt(Math.round((100 - discountPercentage) * 1e6))
  const whole = 100_000_000n
  return (base * percentage * 2n + whole) / (whole * 2n)
}

/** Uses the decimal digits of a number, without its binary rounding error. */
function toCents(amount) {
  const cents = Math.round(Number(Number(amount).toFixed(2)) * 100)
  return cents >= 0 ? BigInt(cents) : null
}
