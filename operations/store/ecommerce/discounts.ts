/** Discounts that the platform applies at checkout: promotions, bundles and gifts. */
import { createHash } from 'node:crypto'
import type { Money } from './money.ts'

type DiscountKind = 'quantity' | 'bundle' | 'gift'

interface Common {
  /** Our stable key of the discount, `<kind>:<id>`. */
  reference: string
  /** Increases with each change. A write with a lower revision than the last written one is ignored. */
  revision: number
  /** The name that shoppers see at the checkout. */
  title: string
  /** ISO 8601, like `endsAt`. */
  startsAt: string | null
  endsAt: string | null
  combinesWith: { promotions: boolean; coupons: boolean; gifts?: boolean }
}

export interface QuantityDiscount extends Common {
  kind: 'quantity'
  buyQuantity: number
  payQuantity: number
  /** Discount on each of the `buyQuantity - payQuantity` units. */
  discountPercentage: number
  mixing: 'any' | 'same-product' | 'same-variant'
  maxSetsPerOrder: number | null
  scope: 'all' | 'categories' | 'products'
  categoryIds: string[]
  productIds: string[]
  excludedProductIds: string[]
}

export interface BundleDiscount extends Common {
  kind: 'bundle'
  items: { productId: string; variantId: string | null; quantity: number }[]
  discountType: 'percentage' | 'fixed' | 'price'
  value: Money
  maxPerOrder: number | null
}

export interface GiftDiscount extends Common {
  kind: 'gift'
  minAmount: Money
  amountBasis: 'after-discounts' | 'before-discounts'
  productId: string
  variantId: string
  quantity: number
  addAutomatically: boolean
  /** Number of orders, over all customers. */
  usageLimit: number | null
  usageLimitPerCustomer: number | null
}

export type DiscountSpec = QuantityDiscount | BundleDiscount | GiftDiscount

export interface DiscountCapabilities {
  kinds: DiscountKind[]
  /** Limit on all kinds together; null: no limit. */
  maxLive: number | null
}

export interface LiveDiscount {
  reference: string
  platformId: string
  revision: number
  /** Equals the `discountHash` of our spec if the platform's discount still matches it. */
  hash: string
}

export interface DiscountUsage {
  orders: number
  /** Null if the platform does not report it. */
  total: Money | null
  currency: string
}

/** Hash of the content without the revision. */
export function discountHash(spec: DiscountSpec): string {
  const { revision: _revision, ...content } = spec
  return createHash('sha256').update(JSON.stringify(content, sortKeys)).digest('hex')
}

const sortKeys = (_key: string, value: unknown): unknown =>
  value && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
