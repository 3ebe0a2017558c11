/** Answers Tiendanube's question what our discounts take off a cart. Pure functions. */
import { atLeastZero, inCurrency, sumCents } from '#runtime/values/money'
import { applyDiscounts } from '../../apply-discounts.ts'
import type { DiscountSpec, GiftDiscount } from '../../discounts.ts'
import { sumDiscount, type Unit } from '../../quote-rules.ts'

/** A cart as Tiendanube sends it. */
export interface AskedCart {
  currency: string
  /** Discounts of the whole cart, which ours are, are asked for on their own. */
  execution_tier: string
  products: {
    price: string
    product_id: number
    variant_id: number
    quantity: number
    categories?: { id: number; parent: number | null }[]
  }[]
  /** The discounts that the cart has already. */
  promotions?: { id: string }[]
  coupons?: string[]
}

interface Live {
  platformId: string
  spec: DiscountSpec
}

/** The discounts that apply, and the ids of all promotions that ever were ours. */
interface Ours {
  live: readonly Live[]
  ids: ReadonlySet<string>
}

/** The most units that are compared: a larger cart gets no discount. */
const unitsAtMost = 2000

/** The commands for a cart; null if nothing changes. */
export function answerCart(cart: AskedCart, ours: Ours, now: Date): { commands: object[] } | null {
  if (cart.execution_tier !== 'cross_items') return null
  const hasCoupon = (cart.coupons ?? []).length > 0
  const at = now.toISOString()
  const live = ours.live.filter(
    ({ spec }) =>
      (spec.startsAt === null || spec.startsAt <= at) &&
      (spec.endsAt === null || spec.endsAt > at) &&
      (!hasCoupon || spec.combinesWith.coupons),
  )
  const amounts = computeAmounts(cart, live)
  const { toMoney } = inCurrency(cart.currency)
  const commands: object[] = live.flatMap(({ platformId, spec }) => {
    const cents = amounts.get(spec.reference) ?? 0n
    if (cents <= 0n) return []
    const { title } = spec
    const text = { 'pt-br': title, 'es-ar': title, 'es-mx': title, 'en-us': title }
    const specs = {
      promotion_id: platformId,
      currency: cart.currency,
      display_text: text,
      discount_specs: { type: 'fixed', amount: toMoney(cents) },
    }
    return [{ command: 'create_or_update_discount', specs }]
  })
  const applied = new Set(
    live.flatMap(({ platformId, spec }) => (amounts.has(spec.reference) ? [platformId] : [])),
  )
  // Also those that were removed at Tiendanube: without the command they stay in the cart. A command for a promotion of
  // another app would be invalid, and an invalid command takes all discounts off.
  const ended = (cart.promotions ?? [])
    .map(({ id }) => id)
    .filter((id) => ours.ids.has(id) && !applied.has(id))
  if (ended.length > 0) {
    commands.push({ command: 'remove_discount', specs: { scope: 'cart', promotion_ids: ended } })
  }
  return commands.length > 0 ? { commands } : null
}

/** The amount that each discount takes off, in cents, by reference. */
function computeAmounts({ products, currency }: AskedCart, live: readonly Live[]): Map<string, bigint> {
  const amounts = new Map<string, bigint>()
  const { toCents } = inCurrency(currency)
  if (sum(products.map(({ quantity }) => quantity)) > unitsAtMost) return amounts
  const units = products.flatMap((product, line) => {
    const { categories = [] } = product
    const unit: Unit = {
      line,
      productId: String(product.product_id),
      variantId: String(product.variant_id),
      categoryIds: categories.flatMap(({ id, parent }) => [String(id), ...(parent ? [String(parent)] : [])]),
      cents: toCents(product.price),
    }
    return Array.from({ length: product.quantity }, () => ({ ...unit }))
  })
  const specs = live.map(({ spec }) => spec)
  const gifts = specs.filter((spec) => spec.kind === 'gift')
  const giftUnits = new Set<Unit>()
  const before = sumCents(units.map(({ cents }) => cents))
  let given: GiftDiscount[] = []
  for (const gift of gifts.sort((a, b) => Number(toCents(b.minAmount) - toCents(a.minAmount)))) {
    const found = units
      .filter((unit) => unit.variantId === gift.variantId && !giftUnits.has(unit))
      .slice(0, gift.quantity)
    const mayCombine = given.length === 0 || [...given, gift].every((each) => each.combinesWith.gifts)
    if (found.length === 0 || !mayCombine) continue
    const price = sumCents(found.map(({ cents }) => cents))
    const rest = applyDiscounts(
      specs,
      units.filter((unit) => !found.includes(unit)),
      currency,
    )
    const off =
      gift.amountBasis === 'after-discounts' ? sumCents(rest.map((each) => sumDiscount(each.off))) : 0n
    // The gift itself does not count towards its minimum.
    if (atLeastZero(before - price - off) < toCents(gift.minAmount)) continue
    given = [...given, gift]
    for (const unit of found) giftUnits.add(unit)
    amounts.set(gift.reference, price)
  }
  const paid = units.filter((unit) => !giftUnits.has(unit))
  for (const { spec, off } of applyDiscounts(specs, paid, currency)) {
    const cents = sumDiscount(off)
    if (cents > 0n) amounts.set(spec.reference, (amounts.get(spec.reference) ?? 0n) + cents)
  }
  return amounts
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
