/**
 * Shopify's Admin API, REST and GraphQL, of one shop for each store: credentials as ./http/options.ts says, how to connect as
 * ./SHOPIFY.md does. An app needs the permissions of ./installation/install.ts.
 *
 * What Shopify cannot do, and this does not pretend:
 * - discounts: only promotions by quantity, of named categories or products (never `scope: all`), that count all units
 *   together (`mixing: any`) and, but for named products, leave none out; 25 automatic discounts at a time, those of the
 *   merchant included; what they took off is not added up;
 * - categories have neither parents nor places: they come by name;
 * - a search finds words by their beginnings; sorting by price and `inStock` compare 5,000 products at most; nobody
 *   turns pages beyond 25,000 products;
 * - how many orders a customer placed and what they spent are Shopify's figures, which count every order; whoever has
 *   no birthday in the metafield `facts.birth_date` has none;
 * - carts are those whose shopper left an address at the checkout; the lines of orders and carts have no picture;
 * - webhooks are signed with the secret of the app, not with one of ours.
 */
import { Refused } from '#runtime/ports/errors'
import type { Finding, ProviderEvent, ProviderStore } from '#runtime/ports/provider'
import type { DiscountCapabilities, DiscountSpec, DiscountUsage, LiveDiscount } from '../discounts.ts'
import type {
  Cart,
  Category,
  CouponSpec,
  EcommercePort,
  InstallFlow,
  PlatformCustomer,
  PlatformOrder,
  Product,
  ProductQuery,
  WebhookTopic,
} from '../port.ts'
import { listCarts } from './carts.ts'
import { listCategories } from './categories.ts'
import { ensureCoupon } from './coupons.ts'
import { listCustomers } from './customers.ts'
import { ShopifyDiscounts } from './discounts.ts'
import { ShopifyClient } from './http/client.ts'
import { BadCredentials, type ShopifyOptions } from './http/options.ts'
import { findingsOf } from './installation/findings.ts'
import { installFlow } from './installation/install.ts'
import { activationLink, listScripts, placeLoader, removeTags } from './installation/scripts.ts'
import { parseDelivery, registerWebhook } from './installation/webhooks.ts'
import { getOrder, listOrders } from './orders.ts'
import { getProducts } from './products.ts'
import { PlacesKept, searchProducts } from './search.ts'

interface RestShop {
  id: number
  name: string
  domain: string
  country_code: string
  currency: string
  iana_timezone: string
}

export class ShopifyEcommerce implements EcommercePort {
  readonly #client: ShopifyClient
  readonly #options: ShopifyOptions
  readonly #discounts: ShopifyDiscounts
  readonly #places = new PlacesKept()
  readonly install: InstallFlow | undefined

  constructor(options: ShopifyOptions) {
    this.#options = options
    this.#client = new ShopifyClient(options)
    const { app, domain, clock } = options
    this.install = app ? installFlow(this.#client, { app, domain, clock }) : undefined
    this.#discounts = new ShopifyDiscounts(this.#client, options.clock)
  }

  async check(store: ProviderStore) {
    try {
      const { body } = await this.#client.rest<{ shop: RestShop }>(store, { path: 'shop.json' })
      const { id, name, domain, country_code: country, currency, iana_timezone: timezone } = body.shop
      return { platformStoreId: String(id), name, domain, country, currency, timezone }
    } catch (error) {
      // Whoever connects is told what is wrong with what they gave.
      if (error instanceof BadCredentials) throw new Refused('invalid-credentials', error.message)
      throw error
    }
  }

  findings(store: ProviderStore, url: string | null = null): Promise<Finding[]> {
    const { app = null, clock } = this.#options
    return findingsOf(this.#client, store, { url, app, clock })
  }

  searchProducts(store: ProviderStore, query: ProductQuery): Promise<{ products: Product[]; total: number }> {
    return searchProducts(this.#client, store, query, this.#places)
  }

  getProducts(store: ProviderStore, { ids }: { ids: string[] }): Promise<Product[]> {
    return getProducts(this.#client, store, ids)
  }

  listCategories(store: ProviderStore): Promise<Category[]> {
    return listCategories(this.#client, store)
  }

  listCustomers(
    store: ProviderStore,
    query: { cursor?: string; limit: number; birthdays?: string[] },
  ): Promise<{ customers: PlatformCustomer[]; next: string | null }> {
    return listCustomers(this.#client, store, query)
  }

  listOrders(
    store: ProviderStore,
    query: { updatedSince: Date; cursor?: string },
  ): Promise<{ orders: PlatformOrder[]; next: string | null }> {
    return listOrders(this.#client, store, query)
  }

  getOrder(store: ProviderStore, query: { id: string } | { number: string }): Promise<PlatformOrder | null> {
    return getOrder(this.#client, store, query)
  }

  ensureCoupon(store: ProviderStore, coupon: CouponSpec): ReturnType<EcommercePort['ensureCoupon']> {
    return ensureCoupon(this.#client, store, coupon, this.#options.clock)
  }

  listCarts(
    store: ProviderStore,
    query: { updatedSince: Date; cursor?: string },
  ): Promise<{ carts: Cart[]; next: string | null }> {
    return listCarts(this.#client, store, query)
  }

  discountCapabilities(store: ProviderStore): Promise<DiscountCapabilities> {
    return this.#discounts.capabilities(store)
  }

  putDiscount(store: ProviderStore, spec: DiscountSpec): Promise<{ platformId: string }> {
    return this.#discounts.put(store, spec)
  }

  removeDiscount(store: ProviderStore, reference: string, revision: number): Promise<void> {
    return this.#discounts.remove(store, reference, revision)
  }

  listDiscounts(store: ProviderStore): Promise<LiveDiscount[]> {
    return this.#discounts.list(store)
  }

  discountUsage(store: ProviderStore, references: string[]): Promise<Record<string, DiscountUsage>> {
    return this.#discounts.usage(store, references)
  }

  listScripts(store: ProviderStore): Promise<{ id: string; src: string; createdAt: Date }[]> {
    return listScripts(this.#client, store, this.#options.clock.ms())
  }

  ensureScript(store: ProviderStore, script: { src: string }): Promise<{ id: string | null }> {
    return placeLoader(this.#client, store, script, this.#options.clock.ms())
  }

  removeScript(store: ProviderStore, script: { src: string }): Promise<void> {
    return removeTags(this.#client, store, script)
  }

  activationLink(store: ProviderStore): Promise<string> {
    return activationLink(this.#client, store)
  }

  registerWebhook(
    store: ProviderStore,
    webhook: { topic: WebhookTopic; url: string; secret: string },
  ): Promise<{ webhookId: string; created: boolean }> {
    return registerWebhook(this.#client, store, webhook)
  }

  webhookSecret(store: ProviderStore): string {
    return this.#client.credentialsOf(store).clientSecret
  }

  parseWebhook(headers: Headers, rawBody: Uint8Array, secret: string): ProviderEvent[] {
    return parseDelivery(headers, rawBody, { secret, now: this.#options.clock.now() })
  }
}
