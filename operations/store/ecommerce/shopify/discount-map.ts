/**
 * Maps our quantity promotions to Shopify's automatic "buy X, get Y" discounts and back. For "take N, pay M", the shopper
 * buys M units and gets the N − M cheapest at the discount. Shopify cannot express our other discounts: see
 * `requireExpressible`.
 */
import { createHash } from 'node:crypto'
import { Refused } from '#runtime/ports/errors'
import { type DiscountSpec, discountHash, type QuantityDiscount } from '../discounts.ts'
import type { BuyItemsFragment, DiscountAutomaticBxgyInput, DiscountQuery } from './documents/documents.ts'
import { isPlainId, plainId, toGid } from './http/ids.ts'

/** A normalized Shopify discount, to compare the desired and the actual one. */
export interface DiscountContent {
  title: string
  /** Null: the discount starts immediately. */
  startsAt: string | null
  endsAt: string | null
  buys: number
  gets: number
  /** The discount in millionths: 500,000 is 50 %. */
  percentage: number
  usesPerOrder: number | null
  combines: { product: boolean; order: boolean; shipping: boolean }
  items: Items
  gotItems: Items
}

/** The products that a discount applies to. We never write `all`: it means that the merchant changed the discount. */
type Items = { type: 'all' | 'products' | 'collections'; ids: string[] }

export type DiscountNode = NonNullable<DiscountQuery['discountNode']>
type NodeItems = BuyItemsFragment

/** Shopify's limit on the products or collections of a discount. */
const maxItems = 250

const unsupported = (field: string, what: string) =>
  new Refused('unsupported-discount', `${field}: Shopify cannot ${what}`)

/** Throws `Refused`, naming the field, if Shopify cannot express the discount. */
export function requireExpressible(spec: DiscountSpec): asserts spec is QuantityDiscount {
  if (spec.kind !== 'quantity') {
    throw new Refused(
      'unsupported-discount',
      spec.kind === 'bundle'
        ? 'Shopify cannot give a discount for products bought together'
        : 'Shopify cannot add gifts to carts',
    )
  }
  if (spec.scope === 'all') {
    throw unsupported(
      'scope',
      'discount units of all products: choose categories, such as a collection with all of them, or products',
    )
  }
  if (spec.mixing !== 'any' && !(spec.mixing === 'same-product' && isOfOneProduct(spec))) {
    throw unsupported(
      'mixing',
      'count the units of each product by themselves: mix all of them, or name one product',
    )
  }
  if (spec.excludedProductIds.length > 0 && spec.scope !== 'products') {
    throw unsupported('excludedProductIds', 'leave out some products: name those that take part')
  }
  const { ids } = toItems(spec)
  if (ids.length === 0) {
    throw unsupported(spec.scope === 'products' ? 'productIds' : 'categoryIds', 'discount nothing: name some')
  }
  if (ids.length > maxItems) {
    throw unsupported('productIds', `take more than ${maxItems} products or categories in one discount`)
  }
}

const isOfOneProduct = (spec: QuantityDiscount): boolean =>
  spec.scope === 'products' && toItems(spec).ids.length === 1

function toItems(spec: QuantityDiscount): Items {
  if (spec.scope === 'categories') return { type: 'collections', ids: distinct(spec.categoryIds) }
  const excluded = new Set(spec.excludedProductIds)
  return { type: 'products', ids: distinct(spec.productIds.filter((id) => !excluded.has(id))) }
}

const distinct = (ids: readonly string[]): string[] => [...new Set(ids)].filter(isPlainId).sort()

export function toContent(spec: QuantityDiscount): DiscountContent {
  const { promotions, coupons } = spec.combinesWith
  return {
    title: spec.title,
    startsAt: wholeSeconds(spec.startsAt),
    endsAt: wholeSeconds(spec.endsAt),
    buys: spec.payQuantity,
    gets: spec.buyQuantity - spec.payQuantity,
    percentage: Math.round(spec.discountPercentage * 10_000),
    usesPerOrder: spec.maxSetsPerOrder,
    combines: { product: promotions, order: coupons, shipping: coupons },
    items: toItems(spec),
    gotItems: toItems(spec),
  }
}

/** Normalizes Shopify's discount; null if it is of a kind that we never create. */
export function parseContent({ discount: it }: DiscountNode): DiscountContent | null {
  if (it.__typename !== 'DiscountAutomaticBxgy') return null
  const { value: bought, items } = it.customerBuys
  const { value: got, items: gotItems } = it.customerGets
  const effect = 'effect' in got && 'percentage' in got.effect ? got.effect.percentage : 0
  const limit = it.usesPerOrderLimit
  return {
    title: it.title,
    startsAt: wholeSeconds(it.startsAt),
    endsAt: wholeSeconds(it.endsAt),
    buys: 'quantity' in bought ? Number(bought.quantity) : 0,
    gets: 'quantity' in got ? Number(got.quantity.quantity) : 0,
    percentage: Math.round(effect * 1_000_000),
    usesPerOrder: limit === null ? null : Number(limit),
    combines: {
      product: it.combinesWith.productDiscounts,
      order: it.combinesWith.orderDiscounts,
      shipping: it.combinesWith.shippingDiscounts,
    },
    items: parseItems(items),
    gotItems: parseItems(gotItems),
  }
}

function parseItems(items: NodeItems): Items {
  const ids = (nodes: { id: string }[]) => nodes.map(({ id }) => plainId(id)).sort()
  if ('products' in items) return { type: 'products', ids: ids(items.products.nodes) }
  if ('collections' in items) return { type: 'collections', ids: ids(items.collections.nodes) }
  return { type: 'all', ids: [] }
}

/** Removes milliseconds, because Shopify's instants have none. */
const wholeSeconds = (instant: string | null): string | null =>
  instant === null ? null : new Date(Math.floor(Date.parse(instant) / 1000) * 1000).toISOString()

/** Compares desired and actual content; "immediately" matches any start in the past. */
function isSame(desired: DiscountContent, actual: DiscountContent, now: Date): boolean {
  const begins = actual.startsAt
  const hasBegun =
    desired.startsAt === null && begins !== null && Date.parse(begins) <= now.getTime() + 60_000
  return serialize(hasBegun ? { ...desired, startsAt: begins } : desired) === serialize(actual)
}

const serialize = (content: DiscountContent): string => JSON.stringify(content)

/** A hash of everything but the start, which identifies a discount whose creation got no response. */
export function fingerprint({ startsAt: _any, ...content }: DiscountContent): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

/** Returns the hash of our spec if Shopify's discount matches it, otherwise a different hash. */
export function hashDiscount(spec: QuantityDiscount, node: DiscountNode, now: Date): string {
  const actual = parseContent(node)
  if (actual && isSame(toContent(spec), actual, now)) return discountHash(spec)
  return createHash('sha256')
    .update(`changed ${actual ? serialize(actual) : node.id}`)
    .digest('hex')
}

/** Builds the input of `discountAutomaticBxgyCreate`, or with `current` (Shopify's content) the input of `…Update`. */
export function buildDiscountInput(
  desired: DiscountContent,
  current: DiscountContent | null,
  now: Date,
): DiscountAutomaticBxgyInput {
  return {
    title: desired.title,
    startsAt: desired.startsAt ?? current?.startsAt ?? now.toISOString(),
    endsAt: desired.endsAt,
    usesPerOrderLimit: desired.usesPerOrder === null ? null : String(desired.usesPerOrder),
    context: { all: 'ALL' },
    combinesWith: {
      productDiscounts: desired.combines.product,
      orderDiscounts: desired.combines.order,
      shippingDiscounts: desired.combines.shipping,
    },
    customerBuys: {
      value: { quantity: String(desired.buys) },
      ...buildItemsInput(desired.items, current?.items ?? null),
    },
    customerGets: {
      value: {
        discountOnQuantity: {
          quantity: String(desired.gets),
          effect: { percentage: desired.percentage / 1_000_000 },
        },
      },
      ...buildItemsInput(desired.gotItems, current?.gotItems ?? null),
    },
  }
}

/** Shopify updates lists by additions and removals. An unchanged list is left out. */
function buildItemsInput(desired: Items, current: Items | null) {
  if (current && JSON.stringify(desired) === JSON.stringify(current)) return {}
  const products = diffItems('products', desired, current)
  const collections = diffItems('collections', desired, current)
  const product = (id: string) => toGid('Product', id)
  const collection = (id: string) => toGid('Collection', id)
  return {
    items: {
      ...(products && {
        products: {
          productsToAdd: products.add.map(product),
          productsToRemove: products.remove.map(product),
        },
      }),
      ...(collections && {
        collections: { add: collections.add.map(collection), remove: collections.remove.map(collection) },
      }),
    },
  }
}

function diffItems(type: 'products' | 'collections', desired: Items, current: Items | null) {
  const before = current?.type === type ? current.ids : []
  const after = desired.type === type ? desired.ids : []
  const add = after.filter((id) => !before.includes(id))
  const remove = before.filter((id) => !after.includes(id))
  return add.length + remove.length === 0 ? null : { add, remove }
}
