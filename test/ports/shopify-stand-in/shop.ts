/** A shop of the stand-in: its objects, and its changes. */

import type { Clock } from '#runtime/clock'

interface StoredVariant {
  id: number
  title: string
  sku: string
  price: string
  compare_at_price: string | null
  inventory_quantity: number
  /** Null: stock is not tracked. */
  inventory_management: string | null
  inventory_policy: 'deny' | 'continue'
  image: string | null
  option1: string
}
export interface StoredProduct {
  id: number
  title: string
  handle: string
  vendor: string
  tags: string[]
  status: 'active' | 'archived' | 'draft' | 'unlisted'
  published_at: string | null
  created_at: string
  updated_at: string
  /** URLs of images; null: of something else, such as a video. */
  media: (string | null)[]
  options: { name: string }[]
  variants: StoredVariant[]
  collectionIds: number[]
}
export interface StoredCustomer {
  id: number
  first_name: string | null
  last_name: string | null
  email: string | null
  phone: string | null
  orders_count: number
  total_spent: string
  acceptsMarketing: boolean
  birthDate: string | null
}
export interface StoredLine {
  id: number
  product_id: number | null
  variant_id: number | null
  title: string
  sku: string | null
  quantity: number
  price: string
  discounts: string[]
  image: string | null
}
export interface StoredOrder {
  id: number
  name: string
  test: boolean
  currency: string
  email: string | null
  customer: StoredCustomer | null
  lines: StoredLine[]
  total_price: string
  /** A landing page's URL. */
  landing_site: string
  financial_status: string
  fulfillments: { deliveredAt: string | null; updated_at: string }[]
  refunds: { lines: { line_item_id: number; quantity: number; subtotal: string; total_tax: string }[] }[]
  /** The refunded amount, in the shop's own currency. */
  refunded: string
  transactions: { kind: string; status: string; processedAt: string }[]
  cartToken: string | null
  checkoutToken: string | null
  created_at: string
  processed_at: string
  cancelled_at: string | null
  closed_at: string | null
  updated_at: string
}
export interface StoredCheckout {
  id: number
  /** The cart's token, which the recovery URL contains. */
  token: string
  customer: StoredCustomer | null
  lines: StoredLine[]
  total_price: string
  currency: string
  abandoned_checkout_url: string
  completed_at: string | null
  updated_at: string
  closed: boolean
}
export interface StoredScript {
  id: number
  src: string
  created_at: string
}
export interface StoredWebhook {
  id: number
  topic: string
  address: string
}
export interface StoredCode {
  id: number
  typename: 'DiscountCodeBasic' | 'DiscountCodeFreeShipping'
  code: string
  title: string
  createdAt: string
  startsAt: string
  endsAt: string | null
  input: Record<string, unknown>
}
export interface StoredMetafield {
  ownerId: string
  namespace: string
  key: string
  value: string
  compareDigest: string
}
export interface StoredDiscount {
  id: number
  typename: string
  title: string
  createdAt: string
  startsAt: string
  endsAt: string | null
  usesPerOrderLimit: number | null
  asyncUsageCount: number
  combinesWith: { productDiscounts: boolean; orderDiscounts: boolean; shippingDiscounts: boolean }
  buys: { quantity: string; items: StoredItems }
  gets: { quantity: string; percentage: number; items: StoredItems }
}
export interface StoredItems {
  products: string[]
  collections: string[]
}

export const currency = 'BRL'

interface VariantInput {
  id: string
  name?: string
  sku?: string | null
  price: number
  compareAtPrice?: number | null
  stock?: number | null
}
export interface ProductInput {
  id: string
  name: string
  brand?: string
  tags?: readonly string[]
  categoryIds?: readonly string[]
  isPublished?: boolean
  variants: readonly VariantInput[]
}

export class Shop {
  readonly id = 690933842
  readonly clock: Clock
  /** The supported versions of the API. */
  versions = ['2026-01', '2026-04', '2026-07', '2026-10']
  readonly products: StoredProduct[] = []
  readonly collections: { id: number; title: string; handle: string; subCollectionIds: number[] }[] = []
  readonly customers: StoredCustomer[] = []
  readonly orders: StoredOrder[] = []
  readonly checkouts: StoredCheckout[] = []
  readonly scripts: StoredScript[] = []
  readonly webhooks: StoredWebhook[] = []
  readonly codes: StoredCode[] = []
  readonly metafields: StoredMetafield[] = []
  discounts: StoredDiscount[] = []
  #lastId = 70_000
  #lastChange = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  /** Whole seconds, like Shopify's; two changes never have the same time. */
  now(): string {
    this.#lastChange = Math.max(this.#lastChange + 1000, Math.floor(this.clock.ms() / 1000) * 1000)
    return `${new Date(this.#lastChange).toISOString().slice(0, 19)}+00:00`
  }

  addCollection({ id, name }: { id: string; name: string }): void {
    this.collections.push({ id: Number(id), title: name, handle: name.toLowerCase(), subCollectionIds: [] })
  }

  addProduct(input: ProductInput): void {
    const at = this.now()
    const hasOptions = input.variants.some(({ name }) => name)
    this.products.push({
      id: Number(input.id),
      title: input.name,
      handle: `product-${input.id}`,
      vendor: input.brand ?? '',
      tags: [...(input.tags ?? [])],
      status: 'active',
      published_at: (input.isPublished ?? true) ? at : null,
      created_at: at,
      updated_at: at,
      media: [],
      options: [{ name: hasOptions ? 'Color' : 'Title' }],
      variants: input.variants.map(buildVariant),
      collectionIds: (input.categoryIds ?? []).map(Number),
    })
  }

  addCustomer(input: {
    id: string
    name?: string | null
    email?: string | null
    phone?: string | null
    birthDate?: string | null
    acceptsMarketing?: boolean
  }): void {
    this.customers.push({
      id: Number(input.id),
      first_name: input.name ?? null,
      last_name: null,
      email: input.email ?? null,
      phone: input.phone ?? null,
      orders_count: 0,
      total_spent: '0.00',
      acceptsMarketing: input.acceptsMarketing ?? true,
      birthDate: input.birthDate ?? null,
    })
  }

  customer(id: string): StoredCustomer {
    const found = this.customers.find((each) => each.id === Number(id))
    if (!found) throw new Error(`The stand-in has no customer ${id}`)
    return found
  }

  variant(id: string): { product: StoredProduct; variant: StoredVariant } {
    for (const product of this.products) {
      const variant = product.variants.find((each) => each.id === Number(id))
      if (variant) return { product, variant }
    }
    throw new Error(`The stand-in has no variant ${id}`)
  }

  order(id: string): StoredOrder {
    const found = this.orders.find((each) => each.id === Number(id))
    if (!found) throw new Error(`The stand-in has no order ${id}`)
    return found
  }
}

function buildVariant({ id, name, sku, price, compareAtPrice, stock }: VariantInput): StoredVariant {
  return {
    id: Number(id),
    title: name ?? 'Default Title',
    sku: sku ?? '',
    price: price.toFixed(2),
    compare_at_price: compareAtPrice?.toFixed(2) ?? null,
    inventory_quantity: stock ?? 0,
    inventory_management: stock === null || stock === undefined ? null : 'shopify',
    inventory_policy: 'deny',
    image: null,
    option1: name ?? 'Default Title',
  }
}
