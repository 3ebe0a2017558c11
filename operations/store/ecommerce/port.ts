/** The port to an ecommerce platform. Every call may throw `Refused`, `Throttled` or `Unavailable` (runtime/ports/errors.ts). */
import type { Precondition, ProviderEvent, ProviderStore } from '#runtime/ports/provider'
import type { DiscountCapabilities, DiscountSpec, DiscountUsage, LiveDiscount } from './discounts.ts'
import type { Money } from './money.ts'

export interface Product {
  id: string
  name: string
  handle: string
  url: string
  imageUrl: string | null
  images: string[]
  brand: string | null
  categories: { id: string; name: string }[]
  tags: string[]
  price: number
  compareAtPrice: number | null
  currency: string
  stock: number | null
  isPublished: boolean
  variants: ProductVariant[]
  createdAt: string
  updatedAt: string
}

export interface ProductVariant {
  id: string
  name: string
  sku: string | null
  options: { name: string; value: string }[]
  price: number
  compareAtPrice: number | null
  stock: number | null
  isAvailable: boolean
  imageUrl: string | null
}

export interface Category {
  id: string
  name: string
  parentId: string | null
  path: string
  handle: string
  url: string
  productCount: number
  position: number
}

export interface PlatformOrderItem {
  id: string
  productId: string | null
  variantId: string | null
  name: string
  sku: string | null
  imageUrl: string | null
  quantity: number
  unitPrice: Money
  total: Money
  refundedQuantity: number
  refundedTotal: Money
}

export interface PlatformOrder {
  id: string
  number: string
  status: 'open' | 'closed' | 'cancelled'
  paymentStatus: 'pending' | 'paid' | 'partially-refunded' | 'refunded' | 'voided'
  fulfillmentStatus: 'unfulfilled' | 'partial' | 'shipped' | 'delivered'
  currency: string
  subtotal: Money
  discount: Money
  shipping: Money
  total: Money
  refundedTotal: Money
  couponCodes: string[]
  customer: { id: string | null; name: string | null; email: string | null; phone: string | null }
  items: PlatformOrderItem[]
  paymentMethod: string | null
  paymentUrl: string | null
  statusUrl: string | null
  cartId: string | null
  trackingCode: string | null
  trackingUrl: string | null
  shippingAddress: Record<string, unknown> | null
  clickToken: string | null
  placedAt: string
  paidAt: string | null
  shippedAt: string | null
  deliveredAt: string | null
  cancelledAt: string | null
  updatedAt: string
}

export interface PlatformCustomer {
  id: string
  name: string | null
  email: string | null
  phone: string | null
  birthDate: string | null
  ordersCount: number
  totalSpent: Money
  firstOrderAt: string | null
  lastOrderAt: string | null
  acceptsMarketing: boolean
}

export interface Cart {
  id: string
  customer: { id: string | null; name: string | null; email: string | null; phone: string | null }
  items: PlatformOrderItem[]
  total: Money
  currency: string
  /** A link that restores the cart for the shopper. */
  url: string
  /** The id of the order that the cart became, or null. */
  orderId: string | null
  lastActivityAt: string
}

export interface ProductQuery {
  search?: string
  ids?: string[]
  categoryId?: string
  inStock?: boolean
  isPublished?: boolean
  sort: 'name' | 'price' | '-price' | '-updatedAt'
  page: number
  limit: number
}

export interface CouponSpec {
  code: string
  type: 'percentage' | 'amount' | 'free-shipping'
  /** Percent, or an amount in the store's currency; null for free shipping. */
  value: Money | null
  minimumAmount: Money | null
  usageLimit: number | null
  /** ISO 8601; null: no end. */
  endsAt: string | null
}

/** The terms of a coupon as the platform has them. */
export type CouponTerms = Omit<CouponSpec, 'code'>

/** OAuth-style installation: the shop's owner follows a link to the platform and is redirected back. */
export interface InstallFlow {
  /** Builds the link and normalizes the shop's name. Throws `Refused` for an invalid shop. */
  link(shop: string, back: { state: string; returnUrl: string }): { shop: string; url: string }
  /** Parses the redirect. Throws `Refused` on a bad signature, or if the owner did not consent. */
  read(query: URLSearchParams): { shop: string; code: string }
  /** Returns credentials to store. Throws `Refused` if they lack a permission. */
  exchange(shop: string, code: string): Promise<unknown>
  /** Parses a webhook sent to the app. `shopId` equals the `platformStoreId` of `check`. Throws like `parseWebhook`. */
  hook(headers: Headers, rawBody: Uint8Array): { shopId: string; events: ProviderEvent[] }
}

export interface EcommercePort {
  /** Undefined if this server has no app that shops could install. */
  readonly install?: InstallFlow | undefined
  /** Verifies credentials before a connection is stored, and identifies the shop. */
  check(store: ProviderStore): Promise<{
    platformStoreId: string
    name: string
    domain: string
    country: string
    currency: string
    timezone: string
  }>
  /** Diagnoses the connection; changes nothing. `url`: the webhook endpoint. */
  findings?(store: ProviderStore, url?: string | null): Promise<Precondition[]>
  searchProducts(store: ProviderStore, query: ProductQuery): Promise<{ products: Product[]; total: number }>
  /** Reads products live; products that do not exist are left out. */
  getProducts(store: ProviderStore, query: { ids: string[] }): Promise<Product[]>
  /**
   * Pages through all products, but reads only when each was changed. Undefined if that is not cheaper than reading the
   * products.
   */
  listProductDates?(
    store: ProviderStore,
    cursor: string | null,
  ): Promise<{ products: { id: string; updatedAt: string }[]; next: string | null }>
  listCategories(store: ProviderStore): Promise<Category[]>
  /** `birthdays`: `MM-DD`. Pages through all customers by `cursor`, in a stable order. */
  listCustomers(
    store: ProviderStore,
    query: { cursor?: string; limit: number; birthdays?: string[] },
  ): Promise<{ customers: PlatformCustomer[]; next: string | null }>
  listOrders(
    store: ProviderStore,
    query: { updatedSince: Date; cursor?: string },
  ): Promise<{ orders: PlatformOrder[]; next: string | null }>
  getOrder(store: ProviderStore, query: { id: string } | { number: string }): Promise<PlatformOrder | null>
  /**
   * Creates a coupon. If the code exists already, it is left unchanged, and the returned `terms` may differ from the
   * requested terms. `terms` is null if the existing code is a kind of discount that `CouponSpec` cannot express.
   */
  ensureCoupon(store: ProviderStore, coupon: CouponSpec): Promise<{ id: string; terms: CouponTerms | null }>
  /** Deletes a coupon that `ensureCoupon` has created and nobody was given. Also succeeds for an unknown code. */
  revokeCoupon(store: ProviderStore, code: string): Promise<void>
  /** Carts changed at or after `updatedSince`, each once per pass; oldest change first if the platform supports it. */
  listCarts(
    store: ProviderStore,
    query: { updatedSince: Date; cursor?: string },
  ): Promise<{ carts: Cart[]; next: string | null }>
  /** How long after its last change a cart may be listed for the first time; undefined: at once. */
  readonly cartsAppearWithinMs?: number
  /** The discounts that the platform supports. */
  discountCapabilities(store: ProviderStore): Promise<DiscountCapabilities>
  /** Upserts by reference. A revision lower than the last one written or removed changes nothing. */
  putDiscount(store: ProviderStore, spec: DiscountSpec): Promise<{ platformId: string }>
  /** Also succeeds for an unknown or removed discount. Always records the revision. */
  removeDiscount(store: ProviderStore, reference: string, revision: number): Promise<void>
  /** Lists only discounts created by us, without coupons. */
  listDiscounts(store: ProviderStore): Promise<LiveDiscount[]>
  /** How many orders used each discount, by reference. Unused or removed discounts are 0 or left out. */
  discountUsage(store: ProviderStore, references: string[]): Promise<Record<string, DiscountUsage>>
  /**
   * Says what our discounts take off a cart, for a platform that asks at each change of one. `rawBody`: the platform's
   * question. Returns its answer; null if nothing changes. Throws `Refused` for a body that cannot be read.
   */
  answerCart?(store: ProviderStore, rawBody: Uint8Array): Promise<object | null>
  listScripts(store: ProviderStore): Promise<{ id: string; src: string; createdAt: Date }[]>
  /** Idempotent by `src`. If `id` is null, the shop's owner has to activate the script. */
  ensureScript(store: ProviderStore, script: { src: string }): Promise<{ id: string | null }>
  /** Removes the script once the owner has activated its replacement. Undefined if the platform needs no activation. */
  removeScript?(store: ProviderStore, script: { src: string }): Promise<void>
  /** The link where the shop's owner activates the script. Undefined if the platform needs no activation. */
  activationLink?(store: ProviderStore): Promise<string>
  /** Topics that the platform reports by no webhook; undefined: none. */
  readonly unreportedTopics?: readonly WebhookTopic[]
  /** True if deliveries do not say when something happened, so that a repeated one looks new. */
  readonly hasUndatedEvents?: boolean
  /** Idempotent by topic and URL. */
  registerWebhook(
    store: ProviderStore,
    webhook: { topic: WebhookTopic; url: string; secret: string },
  ): Promise<{ webhookId: string; created: boolean }>
  /** The platform's own signing secret. Defined if the platform does not accept our `secret`. Throws if it is unknown. */
  webhookSecret?(store: ProviderStore): string
  /** `secret`: the signing secret. Throws `Refused` on a bad signature. */
  parseWebhook(headers: Headers, rawBody: Uint8Array, secret: string): ProviderEvent[]
}

export type WebhookTopic = 'order.updated' | 'cart.updated' | 'product.updated' | 'stock.updated'
