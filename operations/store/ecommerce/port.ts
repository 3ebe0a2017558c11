/** What an ecommerce platform does for us. Each call may throw `Refused`, `Throttled` or `Unavailable` of runtime/ports/errors.ts. */
import type { Finding, ProviderEvent, ProviderStore } from '#runtime/ports/provider'
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
  /** Where the shopper finds it again. */
  url: string
  /** The order it became, or null. */
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
  /** Percent, or units of the store's currency; null for free shipping. */
  value: Money | null
  minimumAmount: Money | null
  usageLimit: number | null
  /** Instant. */
  endsAt: string | null
}

/** What a code gives at the platform. */
export type CouponTerms = Omit<CouponSpec, 'code'>

/** How a shop is connected by its owner, who follows a link to the platform and comes back. */
export interface InstallFlow {
  /** The link, and the shop as the platform writes it. Throws `Refused` for what is no shop. */
  link(shop: string, back: { state: string; returnUrl: string }): { shop: string; url: string }
  /** What the platform sent the owner back with. Throws `Refused` where it is not the platform's own, or no consent. */
  read(query: URLSearchParams): { shop: string; code: string }
  /** Credentials to keep. Throws `Refused` where they allow less than is needed. */
  exchange(shop: string, code: string): Promise<unknown>
  /** What the platform tells the app of a shop, named as `check` names it. Throws as `parseWebhook`. */
  hook(headers: Headers, rawBody: Uint8Array): { shopId: string; events: ProviderEvent[] }
}

export interface EcommercePort {
  /** Undefined where this server has no app that shops could install. */
  readonly install?: InstallFlow | undefined
  /** Asked before a connection is kept: who the credentials belong to. */
  check(store: ProviderStore): Promise<{
    platformStoreId: string
    name: string
    domain: string
    country: string
    currency: string
    timezone: string
  }>
  /** What the connection needs and what of it is missing; nothing is changed. `url`: where webhooks are to come. */
  findings?(store: ProviderStore, url?: string | null): Promise<Finding[]>
  searchProducts(store: ProviderStore, query: ProductQuery): Promise<{ products: Product[]; total: number }>
  /** Live; those that do not exist are left out. */
  getProducts(store: ProviderStore, query: { ids: string[] }): Promise<Product[]>
  listCategories(store: ProviderStore): Promise<Category[]>
  /** `birthdays`: `MM-DD`. Walks all customers by `cursor`, in a lasting order. */
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
   * A code that exists is left as it is; `terms`: what it gives, which may be other than asked. Null: a discount that is
   * none of ours.
   */
  ensureCoupon(store: ProviderStore, coupon: CouponSpec): Promise<{ id: string; terms: CouponTerms | null }>
  /** Carts changed at or after `updatedSince`, each once in a walk; oldest change first where the platform can. */
  listCarts(
    store: ProviderStore,
    query: { updatedSince: Date; cursor?: string },
  ): Promise<{ carts: Cart[]; next: string | null }>
  /** What the platform can apply at checkout. */
  discountCapabilities(store: ProviderStore): Promise<DiscountCapabilities>
  /** Upsert by reference; a revision lower than the stored one (removed ones included) changes nothing. */
  putDiscount(store: ProviderStore, spec: DiscountSpec): Promise<{ platformId: string }>
  /** What is unknown or gone is success; the revision is remembered all the same. */
  removeDiscount(store: ProviderStore, reference: string, revision: number): Promise<void>
  /** Only ours, no coupons. */
  listDiscounts(store: ProviderStore): Promise<LiveDiscount[]>
  /** Orders that used them; those nobody used, or that are gone, are 0 or left out. */
  discountUsage(store: ProviderStore, references: string[]): Promise<Record<string, DiscountUsage>>
  listScripts(store: ProviderStore): Promise<{ id: string; src: string; createdAt: Date }[]>
  /** Idempotent by `src`. Without an id the platform knows the address, and the shop's owner has to switch it on. */
  ensureScript(store: ProviderStore, script: { src: string }): Promise<{ id: string | null }>
  /** Once what the owner switched on does its work. Undefined where there is nothing to switch on. */
  removeScript?(store: ProviderStore, script: { src: string }): Promise<void>
  /** Where the shop's owner switches it on. Undefined as above. */
  activationLink?(store: ProviderStore): Promise<string>
  /** Idempotent by topic and address. */
  registerWebhook(
    store: ProviderStore,
    webhook: { topic: WebhookTopic; url: string; secret: string },
  ): Promise<{ webhookId: string; created: boolean }>
  /** What the platform signs its webhooks with, where it takes no `secret` of ours. Throws where it is not known. */
  webhookSecret?(store: ProviderStore): string
  /** `secret`: what the webhooks are signed with. Throws `Refused` on a bad signature. */
  parseWebhook(headers: Headers, rawBody: Uint8Array, secret: string): ProviderEvent[]
}

export type WebhookTopic = 'order.updated' | 'cart.updated' | 'product.updated' | 'stock.updated'
