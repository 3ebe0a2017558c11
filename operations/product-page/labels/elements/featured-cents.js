// Calculates the featured price with the same result as the server: in whole cents, rounded half up.

/** The featured price in cents for a variant's `price`; null if the variant shows none. */
export function featuredCents({ discountPercentage, minAmount }, price) {
  const base = toCents(price)
  if (base === null || base < toCents(minAmount)) return null
  const percentage = BigInt(Math.round((100 - discountPercentage) * 1e6))
  const whole = 100_000_000n
  return (base * percentage * 2n + whole) / (whole * 2n)
}

/** Converts an amount to cents. Rounds to two decimals as text first, because multiplying a float by 100 is inexact. */
function toCents(amount) {
  const cents = Math.round(Number(Number(amount).toFixed(2)) * 100)
  return cents >= 0 ? BigInt(cents) : null
}
