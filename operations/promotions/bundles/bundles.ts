/** Bundles: the rules and operations in which they differ from other kinds of discounts. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { amounts } from '#operations/store/index'
import { getUnitCents, snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import { omitUndefined } from '#runtime/values/changes'
import { findAmountIssue } from '#runtime/values/money'
import { buildKindOperations } from '../discounts/resource.ts'
import { bundleJson } from './json.ts'
import { bundles } from './kind.ts'
import { type BundleChange, type BundleContent, bundle, bundleDefaults } from './schema.ts'

type Products = Awaited<ReturnType<typeof snapshots.readLive>>

const readProducts = (ctx: Context, { items }: BundleContent): Promise<Products> =>
  snapshots.readLive(
    ctx,
    items.map((item) => item.productId),
  )

const describeItem = ({ productId, variantId }: { productId: string; variantId: string | null }): string =>
  variantId === null ? productId : `${productId} (variant ${variantId})`

/** New items must exist. If the items or the discount change, the discount must be below the items' total price. */
async function check(ctx: Context, before: BundleContent | null, after: BundleContent): Promise<void> {
  await requireReferences(ctx, bundle, { before, after, kinds: ['file'] })
  const areItemsSame = isDeepStrictEqual(before?.items, after.items)
  const isDiscountSame =
    before?.discountType === after.discountType && before.discountValue === after.discountValue
  if (areItemsSame && (isDiscountSame || after.discountType === 'percentage')) return
  const products = await readProducts(ctx, after)
  for (const [at, item] of after.items.entries()) {
    const { productId, variantId } = item
    if (getUnitCents(products.get(productId), variantId) !== null) continue
    const isKnown = before?.items.some((each) => each.productId === productId && each.variantId === variantId)
    if (isKnown) continue
    throw products.get(productId)?.exists
      ? refuse('bad_request', `items.${at}.variantId: product ${productId} has no variant ${variantId}`)
      : refuse('bad_request', `items.${at}.productId: your platform has no product ${productId}`)
  }
  if (after.discountType === 'percentage') return
  const regular = computeRegularPrice(after, products, ctx.store.currency)
  if (regular === null) {
    throw refuse('bad_request', 'items: an item does not exist any more: replace it to set this discount')
  }
  const { currency } = ctx.store
  if (!isBelow(after, regular, currency)) {
    const price = amounts.inCurrency(currency).toMoney(regular)
    throw refuse('bad_request', `discountValue: must be below ${price}, what the items cost together`)
  }
}

/** The total price of the items in cents; null when an item no longer exists. Refuses an item in another currency. */
function computeRegularPrice({ items }: BundleContent, products: Products, currency: string): bigint | null {
  let sum = 0n
  for (const [at, { productId, variantId, quantity }] of items.entries()) {
    const product = products.get(productId)
    if (product?.exists && product.currency !== currency) {
      const clause = `product ${productId} is sold in ${product.currency}, and the discount is in ${currency}`
      throw refuse('bad_request', `items.${at}.productId: ${clause}`)
    }
    const unit = getUnitCents(product, variantId)
    if (unit === null) return null
    sum += unit * BigInt(quantity)
  }
  return sum
}

const isBelow = (
  { discountType, discountValue }: BundleContent,
  regular: bigint,
  currency: string,
): boolean => discountType === 'percentage' || amounts.inCurrency(currency).toCents(discountValue) < regular

function validateBundle({ items, discountType, discountValue }: BundleContent, currency: string): void {
  if (discountType === 'percentage' && discountValue > 100) {
    throw refuse('bad_request', 'discountValue: must be at most 100, as a percentage')
  }
  const issue = discountType === 'percentage' ? null : findAmountIssue(discountValue, currency)
  if (issue) throw refuse('bad_request', `discountValue: ${issue}`)
  if (items.reduce((sum, { quantity }) => sum + quantity, 0) < 2) {
    throw refuse('bad_request', 'items: must add up to at least 2 units')
  }
  const seen = new Set<string>()
  for (const [at, { productId, variantId }] of items.entries()) {
    const key = JSON.stringify([productId, variantId])
    if (seen.has(key)) {
      throw refuse('bad_request', `items.${at}: names the product and variant of another item`)
    }
    seen.add(key)
  }
}

export const {
  read: readBundle,
  list: listBundles,
  create: createBundle,
  change: changeBundle,
  setActive: setBundleActive,
  remove: deleteBundle,
} = buildKindOperations<BundleContent, BundleChange>(bundles, {
  json: bundleJson,
  order: [['d.id', 'desc']],
  filterByProduct: (rows, productId) =>
    rows.where(
      sql<boolean>`d.content -> 'items' @> jsonb_build_array(jsonb_build_object('productId', ${productId}::text))`,
    ),
  defaults: bundleDefaults,
  mergeContent(ctx, base, { items, ...fields }) {
    const content: BundleContent = {
      ...base,
      ...omitUndefined(fields),
      items: items
        ? items.map(({ productId, variantId = null, quantity = 1 }) => ({ productId, variantId, quantity }))
        : base.items,
    }
    validateBundle(content, ctx.store.currency)
    return content
  },
  check,
  async requireActivatable(ctx, content) {
    const products = await readProducts(ctx, content)
    const gone = content.items.find(
      ({ productId, variantId }) => getUnitCents(products.get(productId), variantId) === null,
    )
    if (gone)
      throw refuse('conflict', `Its item ${describeItem(gone)} does not exist any more: replace it first`)
    const { currency } = ctx.store
    if (!isBelow(content, computeRegularPrice(content, products, currency)!, currency)) {
      throw refuse('conflict', 'Its discountValue is no longer below regularPrice: lower it first')
    }
  },
})
