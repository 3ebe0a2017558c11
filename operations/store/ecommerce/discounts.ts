/** Discounts that the platform applies at checkout: promotions, bundles and gifts, as a port takes them. */
import { createHash } from 'node:crypto'
import type { Money } from './money.ts'

type DiscountKind = 'quantity' | 'bundle' | 'gift'

interface Common {
  /** Ours, the same for ever: `<kind>:<id>`. */
  reference: string
  /** Grows with each change; a lower one than the platform has changes nothing there. */
  revision: number
  /** Shown at checkout. */
  title: string
  /** Instants. */
  startsAt: string | null
  endsAt: string | null
  combinesWith: { promotions: boolean; coupons: boolean; gifts?: boolean }
}

export interface QuantityDiscount extends Common {
  kind: 'quantity'
  buyQuantity: number
  payQuantity: number
  /** Taken off each of the units that are not paid. */
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
  /** Orders in all. */
  usageLimit: number | null
  usageLimitPerCustomer: number | null
}

export type DiscountSpec = QuantityDiscount | BundleDiscount | GiftDiscount

export interface DiscountCapabilities {
  kinds: DiscountKind[]
  /** Of all kinds together; null: as many as one likes. */
  maxLive: number | null
}

export interface LiveDiscount {
  reference: string
  platformId: string
  revision: number
  /** `discountHash` of what the platform has. */
  hash: string
}

export interface DiscountUsage {
  orders: number
  /** Null: the platform does not add it up. */
  total: Money | null
  currency: string
}

/** The same for two specs that differ in nothing but their revision. */
export function discountHash(spec: DiscountSpec): string {
  const { revision: _revision, ...content } = spec
  return createHash('sha256').update(JSON.stringify(content, sorted)).digest('hex')
}

const sorted = (_key: string, value: unknown): unknown =>
  value && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
