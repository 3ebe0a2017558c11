// Computes the progress of a cart in a quantity promotion with the same result as the checkout. Units form sets, and the
// cheapest units are discounted.

import { applyPercentage, toAmount, toCents } from '../../../storefront/script/client/money.js'

const getKey = {
  any: () => '',
  'same-product': ({ productId }) => String(productId),
  'same-variant': ({ variantId }) => String(variantId),
}

const getPrice = ({ unitPrice, total, quantity }, shop) => toCents(unitPrice ?? total / quantity, shop)

/**
 * Computes the progress of the cart lines that match the promotion: `sets` is the number of full sets, `saved` the
 * amount that they save, `begun` the number of units in the fullest incomplete set (0 if there is none), and `missing`
 * the number of units that this set lacks.
 */
export function computeProgress(
  { buyQuantity, payQuantity, discountPercentage, mixing, maxSetsPerOrder },
  lines,
  shop,
) {
  const groups = new Map()
  for (const line of lines) {
    const key = getKey[mixing](line)
    const units = groups.get(key) ?? []
    for (let n = 0; n < line.quantity; n += 1) units.push(getPrice(line, shop))
    groups.set(key, units)
  }
  const dearestFirst = [...groups.values()]
    .map((units) => units.sort((a, b) => Number(b - a)))
    .sort(([a = 0n], [b = 0n]) => Number(b - a))
  let left = maxSetsPerOrder ?? Number.POSITIVE_INFINITY
  let [sets, cents, begun] = [0, 0n, 0]
  for (const units of dearestFirst) {
    const full = Math.min(Math.floor(units.length / buyQuantity), left)
    const free = full * (buyQuantity - payQuantity)
    for (const unit of free > 0 ? units.slice(-free) : []) cents += applyPercentage(unit, discountPercentage)
    sets += full
    left -= full
    begun = Math.max(begun, units.length % buyQuantity)
  }
  if (left === 0) begun = 0
  return { sets, saved: toAmount(cents, shop), begun, missing: begun > 0 ? buyQuantity - begun : 0 }
}
