// Computes the price of a bundle with the same result as the server: whole cents, rounded half up.

import { applyPercentage, toCents } from '../../../storefront/script/client/money.js'

/** The discount on `regular`, in cents. */
export function bundleOff({ discountType, discountValue }, regular, shop) {
  if (discountType === 'percentage') return applyPercentage(regular, discountValue)
  const value = toCents(discountValue, shop)
  if (discountType === 'fixed') return value < regular ? value : regular
  return value < regular ? regular - value : 0n
}
