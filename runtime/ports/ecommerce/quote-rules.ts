/** What discounts take off a cart, unit by unit and in whole cents: the rules that the sandbox's checkout follows. */
import type { BundleDiscount, QuantityDiscount } from './discounts.ts'
import { toCents } from './money.ts'

/** One piece of a line. */
export interface Unit {
  line: number
  productId: string
  variantId: string
  /** With all above them. */
  categoryIds: readonly string[]
  cents: number
}

/** What one discount does: the units that take part in it, and what comes off some of them. */
export interface Applied<S> {
  spec: S
  units: Set<Unit>
  off: Map<Unit, number>
}

export const sumOf = (off: ReadonlyMap<Unit, number>): number => {
  let sum = 0
  for (const cents of off.values()) sum += cents
  return sum
}

const isTargeted = (spec: QuantityDiscount, unit: Unit): boolean => {
  if (spec.excludedProductIds.includes(unit.productId)) return false
  if (spec.scope === 'all') return true
  if (spec.scope === 'products') return spec.productIds.includes(unit.productId)
  return unit.categoryIds.some((id) => spec.categoryIds.includes(id))
}

/** Per cent with up to four decimals of so many cents, halves up. */
export const shareOf = (cents: number, percentage: number): number => {
  const millionths = BigInt(Math.round(percentage * 1e4))
  return Number((BigInt(cents) * millionths * 2n + 1_000_000n) / 2_000_000n)
}

/** A quantity promotion over these units, or null where no set is full. */
export function applyQuantity(
  spec: QuantityDiscount,
  units: readonly Unit[],
): Applied<QuantityDiscount> | null {
  const { buyQuantity, payQuantity, mixing } = spec
  const groups = Map.groupBy(
    units.filter((unit) => isTargeted(spec, unit)),
    (unit) => (mixing === 'any' ? '' : mixing === 'same-product' ? unit.productId : unit.variantId),
  )
  let left = spec.maxSetsPerOrder ?? Number.POSITIVE_INFINITY
  const off = new Map<Unit, number>()
  const taken = new Set<Unit>()
  const dearestFirst = [...groups.values()]
    .map((group) => [...group].sort((a, b) => b.cents - a.cents))
    .sort((a, b) => b[0]!.cents - a[0]!.cents)
  for (const group of dearestFirst) {
    const sets = Math.min(Math.floor(group.length / buyQuantity), left)
    if (sets === 0) continue
    left -= sets
    const free = sets * (buyQuantity - payQuantity)
    for (const unit of group.slice(group.length - free)) {
      off.set(unit, shareOf(unit.cents, spec.discountPercentage))
      taken.add(unit)
    }
    for (const unit of group.slice(0, sets * payQuantity)) taken.add(unit)
  }
  return taken.size === 0 ? null : { spec, units: taken, off }
}

/** A bundle over these units as often as it fits, or null. */
export function applyBundle(spec: BundleDiscount, units: readonly Unit[]): Applied<BundleDiscount> | null {
  const free = new Set(units)
  const off = new Map<Unit, number>()
  const taken = new Set<Unit>()
  for (let times = 0; times < (spec.maxPerOrder ?? Number.POSITIVE_INFINITY); times += 1) {
    const set = takeSet(spec, free)
    if (!set) break
    const regular = set.reduce((sum, unit) => sum + unit.cents, 0)
    const shares = sharedOut(
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
export function bundleOff({ discountType, value }: BundleDiscount, regular: number): number {
  if (discountType === 'percentage') return shareOf(regular, Number(value))
  const cents = toCents(value)
  return discountType === 'fixed' ? Math.min(cents, regular) : Math.max(0, regular - cents)
}

/** An amount over weights, by floor; what is left goes to the largest remainders, the earlier first. */
export function sharedOut(amount: number, weights: readonly number[]): number[] {
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  if (whole === 0) return weights.map(() => 0)
  const shares = weights.map((weight) => Math.floor((amount * weight) / whole))
  let left = amount - shares.reduce((sum, share) => sum + share, 0)
  const byRest = weights
    .map((weight, at) => ({ at, rest: (amount * weight) % whole }))
    .sort((a, b) => b.rest - a.rest || a.at - b.at)
  for (const { at } of byRest) {
    if (left === 0) break
    shares[at]! += 1
    left -= 1
  }
  return shares
}
