/** Applies the discount rules of the sandbox's checkout, per unit and in whole cents. */
import { applyPercentage, atLeastZero, inCurrency, minCents, splitBy, sumCents } from '#runtime/values/money'
import type { BundleDiscount, QuantityDiscount } from './discounts.ts'

/** One unit of a cart line; a line with quantity 3 has three. */
export interface Unit {
  line: number
  productId: string
  variantId: string
  /** Include the ancestors of its categories. */
  categoryIds: readonly string[]
  cents: bigint
}

/** The effect of one discount: the units it uses, and the cents taken off each unit. */
export interface Applied<S> {
  spec: S
  units: Set<Unit>
  off: Map<Unit, bigint>
}

export const sumDiscount = (off: ReadonlyMap<Unit, bigint>): bigint => sumCents(off.values())

/** Sorts the most expensive unit first. */
const byPriceDescending = (a: Unit | undefined, b: Unit | undefined): number =>
  Number((b?.cents ?? 0n) - (a?.cents ?? 0n))

const isTargeted = (spec: QuantityDiscount, unit: Unit): boolean => {
  if (spec.excludedProductIds.includes(unit.productId)) return false
  if (spec.scope === 'all') return true
  if (spec.scope === 'products') return spec.productIds.includes(unit.productId)
  return unit.categoryIds.some((id) => spec.categoryIds.includes(id))
}

/**
 * Applies a quantity promotion. Returns null if the units do not complete one set, or if that saves nothing. `remainingPrice`: a unit's price after
 * other promotions; the discount never exceeds it.
 */
export function applyQuantity(
  spec: QuantityDiscount,
  units: readonly Unit[],
  remainingPrice: (unit: Unit) => bigint = ({ cents }) => cents,
): Applied<QuantityDiscount> | null {
  const { buyQuantity, payQuantity, mixing } = spec
  const groups = Map.groupBy(
    units.filter((unit) => isTargeted(spec, unit)),
    (unit) => (mixing === 'any' ? '' : mixing === 'same-product' ? unit.productId : unit.variantId),
  )
  let remainingSets = spec.maxSetsPerOrder ?? Number.POSITIVE_INFINITY
  const off = new Map<Unit, bigint>()
  const used = new Set<Unit>()
  const dearestFirst = [...groups.values()]
    .map((group) => [...group].sort(byPriceDescending))
    .sort(([a], [b]) => byPriceDescending(a, b))
  for (const group of dearestFirst) {
    const sets = Math.min(Math.floor(group.length / buyQuantity), remainingSets)
    if (sets === 0) continue
    remainingSets -= sets
    const free = sets * (buyQuantity - payQuantity)
    for (const unit of group.slice(group.length - free)) {
      off.set(unit, minCents(applyPercentage(unit.cents, spec.discountPercentage), remainingPrice(unit)))
      used.add(unit)
    }
    for (const unit of group.slice(0, sets * payQuantity)) used.add(unit)
  }
  return sumDiscount(off) === 0n ? null : { spec, units: used, off }
}

/** Applies a bundle as often as it fits and saves something; null if it does not fit once, or saves nothing. */
export function applyBundle(
  spec: BundleDiscount,
  units: readonly Unit[],
  currency: string,
): Applied<BundleDiscount> | null {
  const free = new Set(units)
  const off = new Map<Unit, bigint>()
  const used = new Set<Unit>()
  for (let times = 0; times < (spec.maxPerOrder ?? Number.POSITIVE_INFINITY); times += 1) {
    const set = pickSet(spec, free)
    if (!set) break
    const regular = sumCents(set.map((unit) => unit.cents))
    const discount = computeBundleDiscount(spec, regular, currency)
    if (discount === 0n) break
    const shares = splitBy(
      discount,
      set.map((unit) => unit.cents),
    )
    for (const [at, unit] of set.entries()) {
      free.delete(unit)
      used.add(unit)
      off.set(unit, shares[at]!)
    }
  }
  return used.size === 0 ? null : { spec, units: used, off }
}

/** Picks the units of one bundle; null if units are missing. Items that require a variant are served first. */
function pickSet(spec: BundleDiscount, free: ReadonlySet<Unit>): Unit[] | null {
  const set = new Set<Unit>()
  const named = [...spec.items].sort((a, b) => Number(a.variantId === null) - Number(b.variantId === null))
  for (const { productId, variantId, quantity } of named) {
    let missing = quantity
    for (const unit of free) {
      if (missing === 0) break
      if (unit.productId !== productId || set.has(unit)) continue
      if (variantId !== null && unit.variantId !== variantId) continue
      set.add(unit)
      missing -= 1
    }
    if (missing > 0) return null
  }
  return [...set].sort((a, b) => a.line - b.line)
}

/** The discount of a bundle on the regular price of its items. */
export function computeBundleDiscount(
  { discountType, value }: BundleDiscount,
  regular: bigint,
  currency: string,
): bigint {
  if (discountType === 'percentage') return applyPercentage(regular, Number(value))
  const cents = inCurrency(currency).toCents(value)
  return discountType === 'fixed' ? minCents(cents, regular) : atLeastZero(regular - cents)
}
