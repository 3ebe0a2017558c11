/**
 * Our discounts as Shopify's automatic "buy X, get Y", and back: pure. Of N units M are bought and the N − M cheapest
 * are got at the discount, which is what a quantity promotion says. The rest of what ours can say Shopify cannot: see
 * `requireExpressible`.
 */
import { createHash } from 'node:crypto'
import { Refused } from '#runtime/ports/errors'
import { type DiscountSpec, discountHash, type QuantityDiscount } from '../discounts.ts'
import { gidOf, isPlainId, plainId } from './http/ids.ts'

/** What a discount is at Shopify, in one form for what is wanted and for what is there. */
export interface DiscountContent {
  title: string
  /** Null: at once. */
  startsAt: string | null
  endsAt: string | null
  buys: number
  gets: number
  /** Millionths. */
  percentage: number
  usesPerOrder: number | null
  combines: { product: boolean; order: boolean; shipping: boolean }
  items: Items
  gotItems: Items
}

/** `all`: what somebody may have made of it there; none of ours is so. */
export type Items = { type: 'all' | 'products' | 'collections'; ids: string[] }

/** A discount as GraphQL has it. */
export interface DiscountNode {
  id: string
  discount: {
    __typename: string
    title?: string
    createdAt?: string
    startsAt?: string
    endsAt?: string | null
    usesPerOrderLimit?: number | string | null
    asyncUsageCount?: number
    combinesWith?: { productDiscounts: boolean; orderDiscounts: boolean; shippingDiscounts: boolean }
    customerBuys?: { value: { quantity?: string | number }; items: NodeItems }
    customerGets?: {
      value: { quantity?: { quantity: string | number }; effect?: { percentage?: number } }
      items: NodeItems
    }
  }
}

interface NodeItems {
  allItems?: boolean
  products?: { nodes: { id: string }[] }
  collections?: { nodes: { id: string }[] }
}

/** Shopify takes no longer lists. */
const itemsAtMost = 250

const cannot = (field: string, what: string) =>
  new Refused('unsupported-discount', `${field}: Shopify cannot ${what}`)

/** Throws `Refused`, naming the field, for what a discount of Shopify's cannot say. */
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
    throw cannot(
      'scope',
      'discount units of all products: choose categories, such as a collection with all of them, or products',
    )
  }
  if (spec.mixing !== 'any' && !(spec.mixing === 'same-product' && isOfOneProduct(spec))) {
    throw cannot(
      'mixing',
      'count the units of each product by themselves: mix all of them, or name one product',
    )
  }
  if (spec.excludedProductIds.length > 0 && spec.scope !== 'products') {
    throw cannot('excludedProductIds', 'leave out some products: name those that take part')
  }
  const { ids } = itemsOf(spec)
  if (ids.length === 0) {
    throw cannot(spec.scope === 'products' ? 'productIds' : 'categoryIds', 'discount nothing: name some')
  }
  if (ids.length > itemsAtMost) {
    throw cannot('productIds', `take more than ${itemsAtMost} products or categories in one discount`)
  }
}

const isOfOneProduct = (spec: QuantityDiscount): boolean =>
  spec.scope === 'products' && itemsOf(spec).ids.length === 1

function itemsOf(spec: QuantityDiscount): Items {
  if (spec.scope === 'categories') return { type: 'collections', ids: distinct(spec.categoryIds) }
  const excluded = new Set(spec.excludedProductIds)
  return { type: 'products', ids: distinct(spec.productIds.filter((id) => !excluded.has(id))) }
}

const distinct = (ids: readonly string[]): string[] => [...new Set(ids)].filter(isPlainId).sort()

export function wantedContent(spec: QuantityDiscount): DiscountContent {
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
    items: itemsOf(spec),
    gotItems: itemsOf(spec),
  }
}

/** Null: not one that we could have made. */
export function contentOf({ discount: it }: DiscountNode): DiscountContent | null {
  if (it.__typename !== 'DiscountAutomaticBxgy' || !it.customerBuys || !it.customerGets) return null
  const limit = it.usesPerOrderLimit ?? null
  return {
    title: it.title ?? '',
    startsAt: wholeSeconds(it.startsAt ?? null),
    endsAt: wholeSeconds(it.endsAt ?? null),
    buys: Number(it.customerBuys.value.quantity ?? 0),
    gets: Number(it.customerGets.value.quantity?.quantity ?? 0),
    percentage: Math.round((it.customerGets.value.effect?.percentage ?? 0) * 1_000_000),
    usesPerOrder: limit === null ? null : Number(limit),
    combines: {
      product: it.combinesWith?.productDiscounts ?? false,
      order: it.combinesWith?.orderDiscounts ?? false,
      shipping: it.combinesWith?.shippingDiscounts ?? false,
    },
    items: nodeItems(it.customerBuys.items),
    gotItems: nodeItems(it.customerGets.items),
  }
}

function nodeItems({ products, collections }: NodeItems): Items {
  const ids = (nodes: { id: string }[]) => nodes.map(({ id }) => plainId(id)).sort()
  if (products) return { type: 'products', ids: ids(products.nodes) }
  if (collections) return { type: 'collections', ids: ids(collections.nodes) }
  return { type: 'all', ids: [] }
}

/** Shopify's instants have no milliseconds. */
const wholeSeconds = (instant: string | null): string | null =>
  instant === null ? null : new Date(Math.floor(Date.parse(instant) / 1000) * 1000).toISOString()

/** What is there is what is wanted; who wants it at once takes any beginning that is over. */
function isSame(wanted: DiscountContent, there: DiscountContent, now: Date): boolean {
  const begins = there.startsAt
  const hasBegun = wanted.startsAt === null && begins !== null && Date.parse(begins) <= now.getTime() + 60_000
  return text(hasBegun ? { ...wanted, startsAt: begins } : wanted) === text(there)
}

const text = (content: DiscountContent): string => JSON.stringify(content)

/** By what one of ours is known again whose id nobody heard: all of it but its beginning. */
export function fingerprint({ startsAt: _any, ...content }: DiscountContent): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

/** The hash of our spec where Shopify has it so; another one where somebody changed it there. */
export function hashOf(spec: QuantityDiscount, node: DiscountNode, now: Date): string {
  const there = contentOf(node)
  if (there && isSame(wantedContent(spec), there, now)) return discountHash(spec)
  return createHash('sha256')
    .update(`changed ${there ? text(there) : node.id}`)
    .digest('hex')
}

/** For `discountAutomaticBxgyCreate`, and with what is there now for `…Update`. */
export function discountInput(wanted: DiscountContent, there: DiscountContent | null, now: Date) {
  return {
    title: wanted.title,
    startsAt: wanted.startsAt ?? there?.startsAt ?? now.toISOString(),
    endsAt: wanted.endsAt,
    usesPerOrderLimit: wanted.usesPerOrder === null ? null : String(wanted.usesPerOrder),
    context: { all: 'ALL' },
    combinesWith: {
      productDiscounts: wanted.combines.product,
      orderDiscounts: wanted.combines.order,
      shippingDiscounts: wanted.combines.shipping,
    },
    customerBuys: {
      value: { quantity: String(wanted.buys) },
      ...itemsInput(wanted.items, there?.items ?? null),
    },
    customerGets: {
      value: {
        discountOnQuantity: {
          quantity: String(wanted.gets),
          effect: { percentage: wanted.percentage / 1_000_000 },
        },
      },
      ...itemsInput(wanted.gotItems, there?.gotItems ?? null),
    },
  }
}

/** Lists are changed by what comes and what goes; what stays as it is is not named. */
function itemsInput(wanted: Items, there: Items | null) {
  if (there && JSON.stringify(wanted) === JSON.stringify(there)) return {}
  const products = change('products', wanted, there)
  const collections = change('collections', wanted, there)
  const product = (id: string) => gidOf('Product', id)
  const collection = (id: string) => gidOf('Collection', id)
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

function change(type: 'products' | 'collections', wanted: Items, there: Items | null) {
  const before = there?.type === type ? there.ids : []
  const after = wanted.type === type ? wanted.ids : []
  const add = after.filter((id) => !before.includes(id))
  const remove = before.filter((id) => !after.includes(id))
  return add.length + remove.length === 0 ? null : { add, remove }
}
