/** Chooses which bundles and quantity promotions apply to a cart together. Pure functions. */
import { sumCents } from '#runtime/values/money'
import type { BundleDiscount, DiscountSpec, QuantityDiscount } from './discounts.ts'
import { type Applied, applyBundle, applyQuantity, sumDiscount, type Unit } from './quote-rules.ts'

export type Discounted = QuantityDiscount | BundleDiscount

/** Applies discounts greedily: bundles first, then repeatedly the promotion that saves most on the remaining units. */
export function applyDiscounts(
  specs: readonly DiscountSpec[],
  units: readonly Unit[],
  currency: string,
): Applied<Discounted>[] {
  const applied: Applied<Discounted>[] = []
  const bundles = specs.filter((spec) => spec.kind === 'bundle')
  const used = new Set<Unit>()
  greedily(bundles, (spec) =>
    applyBundle(
      spec,
      units.filter((unit) => !used.has(unit)),
      currency,
    ),
  )
  const quantities = specs.filter((spec) => spec.kind === 'quantity')
  greedily(quantities, (spec) =>
    applyQuantity(
      spec,
      units.filter((unit) => !used.has(unit) && mayShare(applied, spec, unit)),
      remainingPrice,
    ),
  )
  return applied

  function remainingPrice(unit: Unit): bigint {
    return unit.cents - sumCents(applied.map(({ off }) => off.get(unit) ?? 0n))
  }

  function greedily<S extends Discounted>(candidates: S[], apply: (spec: S) => Applied<S> | null): void {
    const waiting = new Set(candidates)
    while (waiting.size > 0) {
      let best: Applied<S> | null = null
      for (const spec of waiting) {
        const found = apply(spec)
        if (!found) waiting.delete(spec)
        else if (!best || sumDiscount(found.off) > sumDiscount(best.off)) best = found
      }
      if (!best) break
      waiting.delete(best.spec)
      applied.push(best as Applied<Discounted>)
      if (best.spec.kind === 'bundle') for (const unit of best.units) used.add(unit)
    }
  }
}

/** Whether a unit may be used by one more promotion: only if all of its promotions combine. */
const mayShare = (applied: readonly Applied<Discounted>[], spec: QuantityDiscount, unit: Unit): boolean =>
  applied.every(
    (each) => !each.units.has(unit) || (each.spec.combinesWith.promotions && spec.combinesWith.promotions),
  )
