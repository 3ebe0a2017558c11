// Computes the progress of a cart in a quantity promotion with the same result as the checkout. Units form sets, and the
// cheapest units are discounted.

const getKey = {
  any: () => '',
  'same-product': ({ productId }) => String(productId),
  'same-variant': ({ variantId }) => String(variantId),
}

/** Converts an amount to cents. Rounds to two decimals as text first, because multiplying a float by 100 is inexact. */
const toCents = (amount) => Math.round(Number(amount.toFixed(2)) * 100)
const getPrice = ({ unitPrice, total, quantity }) => toCents(unitPrice ?? total / quantity)

/** A percentage of an amount, rounded half up. Exact, since a percentage has at most four decimals. */
function computePercentage(cents, percentage) {
  const whole = 100_000_000n
  return Number((2n * BigInt(cents) * BigInt(Math.round(percentage * 1e6)) + whole) / (2n * whole))
}

/**
 * Computes the progress of the cart lines that match the promotion: `sets` is the number of full sets, `saved` the
 * amount that they save, `begun` the number of units in the fullest incomplete set (0 if there is none), and `missing`
 * the number of units that this set lacks.
 */
export function computeProgress(
  { buyQuantity, payQuantity, discountPercentage, mixing, maxSetsPerOrder },
  lines,
) {
  const groups = new Map()
  for (const line of lines) {
    const key = getKey[mixing](line)
    const units = groups.get(key) ?? []
    for (let n = 0; n < line.quantity; n += 1) units.push(getPrice(line))
    groups.set(key, units)
  }
  const dearestFirst = [...groups.values()]
    .map((units) => units.sort((a, b) => b - a))
    .sort(([a = 0], [b = 0]) => b - a)
  let left = maxSetsPerOrder ?? Number.POSITIVE_INFINITY
  let [sets, cents, begun] = [0, 0, 0]
  for (const units of dearestFirst) {
    const full = Math.min(Math.floor(units.length / buyQuantity), left)
    const free = full * (buyQuantity - payQuantity)
    for (const unit of free > 0 ? units.slice(-free) : [])
      cents += computePercentage(unit, discountPercentage)
    sets += full
    left -= full
    begun = Math.max(begun, units.length % buyQuantity)
  }
  if (left === 0) begun = 0
  return { sets, saved: cents / 100, begun, missing: begun > 0 ? buyQuantity - begun : 0 }
}
