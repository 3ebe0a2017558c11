// The price of paying by another method, as the server reckons it: in whole cents, half up.

/** `price`: of the variant; null where it shows none. */
export function featuredCents({ discountPercentage, minAmount }, price) {
  const base = centsOf(price)
  if (base === null || base < centsOf(minAmount)) return null
  const percentage = BigInt(Math.round((100 - discountPercentage) * 1e6))
  const whole = 100_000_000n
  return (base * percentage * 2n + whole) / (whole * 2n)
}

/** A shop's number is what its decimals say, not what binary made of it. */
function centsOf(amount) {
  const cents = Math.round(Number(Number(amount).toFixed(2)) * 100)
  return cents >= 0 ? BigInt(cents) : null
}
