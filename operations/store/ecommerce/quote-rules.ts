/** What discounts take off a cart, unit by unit and in whole cents: the rules that the sandbox's checkout follows. */
import { sumOf as centsOf, lesser, notNegative, percentageOf, splitBy, toCents } from '#runtime/values/money'
import type { BundleDiscount, QuantityDiscount } from './discounts.ts'

/** One piece of a line. */
export interface Unit {
  line: number
  productId: string
  variantId: string
  /** With all above them. */
  categoryIds: readonly string[]
  cents: bigint
}

/** What one discount does: the units that take part in it, and what comes off some of them. */
export interface Applied<S> {
  spec: S
  units: Set<Unit>
  off: Map<Unit, bigint>
}

export const sumOf = (off: ReadonlyMap<Unit, bigint>): bigint => centsOf(off.values())

/** The dearer one first. */
const dearer = (a: Unit | undefined, b: Unit | undefined): number =>
  Number((b?.cents ?? 0n) - (a?.cents ?? 0n))

const isTargeted = (spec: QuantityDiscount, unit: Unit): boolean => {
  if (spec.excludedProductIds.includes(unit.productId)) return false
  if (spec.scope === 'all') return true
  if (spec.scope === 'products') return spec.productIds.includes(unit.productId)
  return unit.categoryIds.some((id) => spec.categoryIds.includes(id))
}

/**
 * A quantity promotion over these units, or null where no set is full. `leftOf`: what other promotions have left of a
 * unit's price; no more than that comes off it.
 */
export function applyQuantity(
  spec: QuantityDiscount,
  units: readonly Unit[],
  leftOf: (unit: Unit) => bigint = ({ cents }) => cents,
): Applied<QuantityDiscount> | null {
  const { buyQuantity, payQuantity, mixing } = spec
  const groups = Map.groupBy(
    units.filter((unit) => isTargeted(spec, unit)),
    (unit) => (mixing === 'any' ? '' : mixing === 'same-product' ? unit.productId : unit.variantId),
  )
  let left = spec.maxSetsPerOrder ?? Number.POSITIVE_INFINITY
  const off = new Map<Unit, bigint>()
  const taken = new Set<Unit>()
  const dearestFirst = [...groups.values()]
    .map((group) => [...group].sort(dearer))
    .sort(([a], [b]) => dearer(a, b))
  for (const group of dearestFirst) {
    const sets = Math.min(Math.floor(group.length / buyQuantity), left)
    if (sets === 0) continue
    left -= sets
    const free = sets * (buyQuantity - payQuantity)
    for (const unit of group.slice(group.length - free)) {
      off.set(unit, lesser(percentageOf(unit.cents, spec.discountPercentage), leftOf(unit)))
      taken.add(unit)
    }
    for (const unit of group.slice(0, sets * payQuantity)) taken.add(unit)
  }
  return taken.size === 0 ? null : { spec, units: taken, off }
}

/** A bundle over these units as often as it fits, or null. */
export function applyBundle(spec: BundleDiscount, units: readonly Unit[]): Applied<BundleDiscount> | null {
  const free = new Set(units)
  const off = new Map<Unit, bigint>()
  const taken = new Set<Unit>()
  for (let times = 0; times < (spec.maxPerOrder ?? Number.POSITIVE_INFINITY); times += 1) {
    const set = takeSet(spec, free)
    if (!set) break
    const regular = centsOf(set.map((unit) => unit.cents))
    const shares = splitBy(
      bundleOff(spec, regular),
      set.map((unit) => unit.cents),
    )
    for (const [at, unit] of set.entries()) {
      free.delete(unit)
      taken.add(unit)
      off.set(unit, shares[at]!)
    }
  }
  return taken.size === 0 ? null : { spec, units: taken, off }
}

/** The units of one bundle in the order of the lines; those that name a variant choose first. */
function takeSet(spec: BundleDiscount, free: ReadonlySet<Unit>): Unit[] | null {
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

/** What a bundle takes off what its items cost. */
export function bundleOff({ discountType, value }: BundleDiscount, regular: bigint): bigint {
  if (discountType === 'percentage') return percentageOf(regular, Number(value))
  const cents = toCents(value)
  return discountType === 'fixed' ? lesser(cents, regular) : notNegative(regular - cents)
}
