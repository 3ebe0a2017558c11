// Calculates the featured price with the same result as the server: in whole cents, rounded half up.

import { applyPercentage, toCents } from '../../../storefront/script/client/money.js'

/** The featured price in cents for a variant's `price`; null if the variant shows none. */
export function featuredCents({ discountPercentage, minAmount }, price, shop) {
  if (!(Number(price) >= 0)) return null
  const base = toCents(price, shop)
  return base < toCents(minAmount, shop) ? null : applyPercentage(base, 100 - discountPercentage)
}
