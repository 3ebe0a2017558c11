/** Prices a cart like the sandbox's checkout, with bundles, quantity promotions, a coupon and gifts. */

import { sql } from 'kysely'
import { Refused } from '#runtime/ports/errors'
import { inCurrency, sumCents } from '#runtime/values/money'
import { buildAncestry } from './ancestry.ts'
import { applyDiscounts, type Discounted } from './apply-discounts.ts'
import type { DiscountUsage, GiftDiscount } from './discounts.ts'
import type { CouponSpec, Product } from './port.ts'
import { type Applied, sumDiscount, type Unit } from './quote-rules.ts'
import { computeCouponDiscount } from './sandbox-coupons.ts'
import { discountUsage, listSandboxDiscounts } from './sandbox-discounts.ts'
import { listCategories } from './sandbox-queries.ts'
import { findObjects, readShopFacts, type Shop } from './sandbox-rows.ts'

export interface QuoteInput {
  lines: readonly { variantId: string; quantity: number }[]
  couponCode?: string | null | undefined
}

/** Money is decimal text. Throws `Refused` for an unknown variant. */
export async function quoteSandboxCart(shop: Shop, { lines, couponCode }: QuoteInput) {
  const { currency } = await readShopFacts(shop)
  const { toCents, toMoney } = inCurrency(currency)
  const products = await findProducts(
    shop,
    lines.map((line) => line.variantId),
  )
  const ancestors = buildAncestry(await listCategories(shop))
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
  const subtotal = sumCents(units.map((unit) => unit.cents))
  const specs = await activeSpecs(shop)
  const { applied, couponOff } = applyWithCoupon(specs, units, await findCoupon(shop, couponCode), currency)
  const discounted = sumCents(applied.map(({ off }) => sumDiscount(off)))
  const after = subtotal - discounted - couponOff
  return {
    currency,
    lines: priced.map(({ product, variant, quantity, cents }, line) => {
      const off = sumCents(applied.map((each) => sumLineDiscount(each, line)))
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
      amount: toMoney(sumDiscount(off)),
    })),
    couponDiscount: toMoney(couponOff),
    gifts: await findGifts(shop, { before: subtotal, after, currency }),
    subtotal: toMoney(subtotal),
    total: toMoney(after),
  }
}

const sumLineDiscount = ({ off }: Applied<Discounted>, line: number): bigint => {
  let sum = 0n
  for (const [unit, cents] of off) if (unit.line === line) sum += cents
  return sum
}

async function findProducts(shop: Shop, variantIds: readonly string[]): Promise<Product[]> {
  const { rows } = await sql<{ data: Product }>`
    select data from sandbox_objects
    where store_id = ${shop.storeId}::uuid and kind = 'product' and exists (
      select 1 from jsonb_array_elements(data -> 'variants') v
      where v ->> 'id' = any(${[...variantIds]}::text[]))`.execute(shop.db)
  return rows.map((row) => row.data)
}

/** The discounts that are active now, oldest first. */
async function activeSpecs(shop: Shop) {
  const now = shop.clock.now().toISOString()
  return (await listSandboxDiscounts(shop))
    .map(({ spec }) => spec)
    .filter(
      ({ startsAt, endsAt }) => (startsAt === null || startsAt <= now) && (endsAt === null || endsAt > now),
    )
}
type Specs = Awaited<ReturnType<typeof activeSpecs>>

/** Applies discounts and a coupon. The coupon replaces discounts that it does not combine with, if that saves more. */
function applyWithCoupon(specs: Specs, units: readonly Unit[], coupon: CouponSpec | null, currency: string) {
  const all = applyDiscounts(specs, units, currency)
  const plain = { applied: all, couponOff: 0n }
  if (!coupon) return plain
  const combining = applyDiscounts(
    specs.filter((spec) => spec.combinesWith.coupons),
    units,
    currency,
  )
  const applied = all.every(({ spec }) => spec.combinesWith.coupons) ? all : combining
  const saved = (list: Applied<Discounted>[]) => sumCents(list.map(({ off }) => sumDiscount(off)))
  const couponOff = findCouponDiscount(
    coupon,
    sumCents(units.map((unit) => unit.cents)) - saved(applied),
    currency,
  )
  return saved(applied) + couponOff > saved(all) ? { applied, couponOff } : plain
}

async function findCoupon(shop: Shop, code: string | null | undefined): Promise<CouponSpec | null> {
  if (!code?.trim()) return null
  const [coupon] = await findObjects<CouponSpec>(shop, 'coupon', [code.trim().toUpperCase()])
  if (!coupon || (coupon.endsAt !== null && coupon.endsAt <= shop.clock.now().toISOString())) return null
  return coupon
}

const findCouponDiscount = (coupon: CouponSpec, amount: bigint, currency: string): bigint =>
  coupon.minimumAmount !== null && amount < inCurrency(currency).toCents(coupon.minimumAmount)
    ? 0n
    : computeCouponDiscount(coupon, amount, currency)

/** The earned gifts: the gift with the highest minimum that is reached, and further gifts only if all of them combine. */
async function findGifts(shop: Shop, amounts: { before: bigint; after: bigint; currency: string }) {
  const { toCents } = inCurrency(amounts.currency)
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
    const product = await findAvailableProduct(shop, spec)
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

async function findAvailableProduct(
  shop: Shop,
  { productId, variantId }: GiftDiscount,
): Promise<Product | null> {
  const [product] = await findObjects<Product>(shop, 'product', [productId])
  const variant = product?.variants.find((each) => each.id === variantId)
  return product?.isPublished && variant && variant.stock !== 0 ? product : null
}
