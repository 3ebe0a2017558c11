// How far a cart is in a quantity promotion, as the checkout counts: sets of units, the cheapest of each discounted.

const keyOf = {
  any: () => '',
  'same-product': ({ productId }) => String(productId),
  'same-variant': ({ variantId }) => String(variantId),
}

/** `1.005` is what its decimals say. */
const centsOf = (amount) => Math.round(Number(amount.toFixed(2)) * 100)
const priceOf = ({ unitPrice, total, quantity }) => centsOf(unitPrice ?? total / quantity)

/** Half up; exact, since so many per cent have four decimals at most. */
function percentageOf(cents, percentage) {
  const whole = 100_000_000n
  return Number((2n * BigInt(cents) * BigInt(Math.round(percentage * 1e6)) + whole) / (2n * whole))
}

/**
 * Of the lines that are in it: how many sets are full, what they save, how many units the fullest of the others has
 * (`begun`, 0: none) and how many it misses.
 */
export function progressOf({ buyQuantity, payQuantity, discountPercentage, mixing, maxSetsPerOrder }, lines) {
  const groups = new Map()
  for (const line of lines) {
    const key = keyOf[mixing](line)
    const units = groups.get(key) ?? []
    for (let n = 0; n < line.quantity; n += 1) units.push(priceOf(line))
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
    for (const unit of free > 0 ? units.slice(-free) : []) cents += percentageOf(unit, discountPercentage)
    sets += full
    left -= full
    begun = Math.max(begun, units.length % buyQuantity)
  }
  if (left === 0) begun = 0
  return { sets, saved: cents / 100, begun, missing: begun > 0 ? buyQuantity - begun : 0 }
}
