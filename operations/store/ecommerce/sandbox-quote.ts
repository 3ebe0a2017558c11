/** What a cart comes to at the sandbox's checkout: bundles, quantity promotions, a coupon, gifts. */

import { sql } from 'kysely'
import { Refused } from '#runtime/ports/errors'
import { sumOf as centsOf, toCents, toMoney } from '#runtime/values/money'
import { ancestryOf } from './ancestry.ts'
import type { BundleDiscount, DiscountUsage, GiftDiscount, QuantityDiscount } from './discounts.ts'
import type { CouponSpec, Product } from './port.ts'
import { type Applied, applyBundle, applyQuantity, sumOf, type Unit } from './quote-rules.ts'
import { couponOff as offOf } from './sandbox-coupons.ts'
import { discountUsage, heldDiscounts } from './sandbox-discounts.ts'
import { listCategories } from './sandbox-queries.ts'
import { findObjects, type Shop, shopFacts } from './sandbox-rows.ts'

export interface QuoteInput {
  lines: readonly { variantId: string; quantity: number }[]
  couponCode?: string | null | undefined
}

type Discounted = QuantityDiscount | BundleDiscount

/** Answers money as decimal text. Throws `Refused` for a variant that no product has. */
export async function quoteCart(shop: Shop, { lines, couponCode }: QuoteInput) {
  const { currency } = await shopFacts(shop)
  const products = await productsOf(
    shop,
    lines.map((line) => line.variantId),
  )
  const ancestors = ancestryOf(await listCategories(shop))
  const priced = lines.map(({ variantId, quantity }, line) => {
    const product = products.find((each) => each.variants.some((variant) => variant.id === variantId))
    const variant = product?.variants.find((each) => each.id === variantId)
    if (!product || !variant)
      throw new Refused('unknown-variant', `lines.${line}: no product has ${variantId}`)
    const categoryIds = product.categories.flatMap(({ id }) => ancestors.get(id) ?? [id])
    return { product, variant, quantity, categoryIds, cents: toCents(variant.price) }
  })
  const units = priced.flatMap(({ product, variant, quantity, categoryIds, cents }, line) =>
    Array.from(
      { length: quantity },
      (): Unit => ({ line, productId: product.id, variantId: variant.id, categoryIds, cents }),
    ),
  )
  const subtotal = centsOf(units.map((unit) => unit.cents))
  const specs = await activeSpecs(shop)
  const { applied, couponOff } = withCoupon(specs, units, subtotal, await couponOf(shop, couponCode))
  const discounted = centsOf(applied.map(({ off }) => sumOf(off)))
  const after = subtotal - discounted - couponOff
  return {
    currency,
    lines: priced.map(({ product, variant, quantity, cents }, line) => {
      const off = centsOf(applied.map((each) => offLine(each, line)))
      return {
        productId: product.id,
        variantId: variant.id,
        name: product.name,
        quantity,
        unitPrice: toMoney(cents),
        discount: toMoney(off),
        total: toMoney(cents * BigInt(quantity) - off),
      }
    }),
    discounts: applied.map(({ spec, off }) => ({
      reference: spec.reference,
      title: spec.title,
      amount: toMoney(sumOf(off)),
    })),
    couponDiscount: toMoney(couponOff),
    gifts: await giftsFor(shop, { before: subtotal, after }),
    subtotal: toMoney(subtotal),
    total: toMoney(after),
  }
}

const offLine = ({ off }: Applied<Discounted>, line: number): bigint => {
  let sum = 0n
  for (const [unit, cents] of off) if (unit.line === line) sum += cents
  return sum
}

async function productsOf(shop: Shop, variantIds: readonly string[]): Promise<Product[]> {
  const { rows } = await sql<{ data: Product }>`
    select data from sandbox_objects
    where store_id = ${shop.storeId}::uuid and kind = 'product' and exists (
      select 1 from jsonb_array_elements(data -> 'variants') v
      where v ->> 'id' = any(${[...variantIds]}::text[]))`.execute(shop.db)
  return rows.map((row) => row.data)
}

/** Oldest first. */
async function activeSpecs(shop: Shop) {
  const now = shop.clock.now().toISOString()
  return (await heldDiscounts(shop))
    .map(({ spec }) => spec)
    .filter(
      ({ startsAt, endsAt }) => (startsAt === null || startsAt <= now) && (endsAt === null || endsAt > now),
    )
}
type Specs = Awaited<ReturnType<typeof activeSpecs>>

/** A coupon that does not combine takes the place of what it does not combine with where it saves more. */
function withCoupon(specs: Specs, units: readonly Unit[], subtotal: bigint, coupon: CouponSpec | null) {
  const all = applyAll(specs, units)
  const plain = { applied: all, couponOff: 0n }
  if (!coupon) return plain
  const combining = applyAll(
    specs.filter((spec) => spec.combinesWith.coupons),
    units,
  )
  const applied = all.every(({ spec }) => spec.combinesWith.coupons) ? all : combining
  const saved = (list: Applied<Discounted>[]) => centsOf(list.map(({ off }) => sumOf(off)))
  const couponOff = offByCoupon(coupon, subtotal - saved(applied))
  return saved(applied) + couponOff > saved(all) ? { applied, couponOff } : plain
}

/** Bundles take their units first; then whichever takes most off, and so on over what is left. */
function applyAll(specs: Specs, units: readonly Unit[]): Applied<Discounted>[] {
  const applied: Applied<Discounted>[] = []
  const bundles = specs.filter((spec) => spec.kind === 'bundle')
  const taken = new Set<Unit>()
  greedily(bundles, (spec) =>
    applyBundle(
      spec,
      units.filter((unit) => !taken.has(unit)),
    ),
  )
  const quantities = specs.filter((spec) => spec.kind === 'quantity')
  greedily(quantities, (spec) =>
    applyQuantity(
      spec,
      units.filter((unit) => !taken.has(unit) && mayShare(applied, spec, unit)),
      leftOf,
    ),
  )
  return applied

  function leftOf(unit: Unit): bigint {
    return unit.cents - centsOf(applied.map(({ off }) => off.get(unit) ?? 0n))
  }

  function greedily<S extends Discounted>(candidates: S[], apply: (spec: S) => Applied<S> | null): void {
    const waiting = new Set(candidates)
    while (waiting.size > 0) {
      let best: Applied<S> | null = null
      for (const spec of waiting) {
        const found = apply(spec)
        if (!found) waiting.delete(spec)
        else if (!best || sumOf(found.off) > sumOf(best.off)) best = found
      }
      if (!best) break
      waiting.delete(best.spec)
      applied.push(best as Applied<Discounted>)
      if (best.spec.kind === 'bundle') for (const unit of best.units) taken.add(unit)
    }
  }
}

/** A unit is in one promotion only, unless all of its promotions go together with others. */
const mayShare = (applied: readonly Applied<Discounted>[], spec: QuantityDiscount, unit: Unit): boolean =>
  applied.every(
    (each) => !each.units.has(unit) || (each.spec.combinesWith.promotions && spec.combinesWith.promotions),
  )

async function couponOf(shop: Shop, code: string | null | undefined): Promise<CouponSpec | null> {
  if (!code?.trim()) return null
  const [coupon] = await findObjects<CouponSpec>(shop, 'coupon', [code.trim().toUpperCase()])
  if (!coupon || (coupon.endsAt !== null && coupon.endsAt <= shop.clock.now().toISOString())) return null
  return coupon
}

const offByCoupon = (coupon: CouponSpec, amount: bigint): bigint =>
  coupon.minimumAmount !== null && amount < toCents(coupon.minimumAmount) ? 0n : offOf(coupon, amount)

/** The one with the highest amount that is reached; more only where all of them go together. */
async function giftsFor(shop: Shop, amounts: { before: bigint; after: bigint }) {
  const specs = (await activeSpecs(shop)).filter((spec) => spec.kind === 'gift')
  const usage = await discountUsage(
    shop,
    specs.map((spec) => spec.reference),
  )
  const given: (GiftDiscount & { name: string })[] = []
  for (const spec of specs.sort((a, b) => Number(toCents(b.minAmount) - toCents(a.minAmount)))) {
    const amount = spec.amountBasis === 'after-discounts' ? amounts.after : amounts.before
    if (amount < toCents(spec.minAmount) || isUsedUp(spec, usage[spec.reference])) continue
    if (given.length > 0 && ![...given, spec].every((each) => each.combinesWith.gifts)) continue
    const product = await availableOf(shop, spec)
    if (product) given.push({ ...spec, name: product.name })
  }
  return given.map(({ reference, productId, variantId, name, quantity, addAutomatically }) => ({
    reference,
    productId,
    variantId,
    name,
    quantity,
    isAdded: addAutomatically,
  }))
}

const isUsedUp = ({ usageLimit }: GiftDiscount, usage: DiscountUsage | undefined): boolean =>
  usageLimit !== null && (usage?.orders ?? 0) >= usageLimit

async function availableOf(shop: Shop, { productId, variantId }: GiftDiscount): Promise<Product | null> {
  const [product] = await findObjects<Product>(shop, 'product', [productId])
  const variant = product?.variants.find((each) => each.id === variantId)
  return product?.isPublished && variant && variant.stock !== 0 ? product : null
}
