/** Bundles: the rules and operations in which they differ from other kinds of discounts. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { amounts } from '#operations/store/index'
import { emptyToNull, getUnitCents, snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import { omitUndefined } from '#runtime/values/changes'
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
  const regular = computeRegularPrice(after, products)
  if (regular === null) {
    throw refuse('bad_request', 'items: an item does not exist any more: replace it to set this discount')
  }
  if (!isBelow(after, regular)) {
    const price = amounts.toMoney(regular)
    throw refuse('bad_request', `discountValue: must be below ${price}, what the items cost together`)
  }
}

/** The total price of the items in cents; null when an item no longer exists. */
function computeRegularPrice({ items }: BundleContent, products: Products): bigint | null {
  let sum = 0n
  for (const { productId, variantId, quantity } of items) {
    const unit = getUnitCents(products.get(productId), variantId)
    if (unit === null) return null
    sum += unit * BigInt(quantity)
  }
  return sum
}

const isBelow = ({ discountType, discountValue }: BundleContent, regular: bigint): boolean =>
  discountType === 'percentage' || amounts.toCents(discountValue) < regular

function validateBundle({ items, discountType, discountValue }: BundleContent): void {
  if (discountType === 'percentage' && discountValue > 100) {
    throw refuse('bad_request', 'discountValue: must be at most 100, as a percentage')
  }
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
  mergeContent(_ctx, base, { items, ...fields }) {
    const content: BundleContent = {
      ...base,
      ...omitUndefined(fields),
      items: items
        ? items.map(({ productId, variantId = null, quantity = 1 }) => ({ productId, variantId, quantity }))
        : base.items,
    }
    content.title = emptyToNull(content.title)
    content.description = emptyToNull(content.description)
    validateBundle(content)
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
    if (!isBelow(content, computeRegularPrice(content, products)!)) {
      throw refuse('conflict', 'Its discountValue is no longer below regularPrice: lower it first')
    }
  },
})
