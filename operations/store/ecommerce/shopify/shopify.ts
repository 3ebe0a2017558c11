/**
 * The adapter of Shopify's GraphQL Admin API, one shop per store. Credentials: ./http/options.ts. How to connect:
 * ./SHOPIFY.md. Permissions of the app: ./installation/install.ts.
 *
 * Limits of Shopify:
 * - discounts: only quantity promotions of named categories or products (never `scope: all`), counting all units together
 *   (`mixing: any`), with exclusions only for named products; at most 25 automatic discounts, including the merchant's;
 *   discounted amounts are not reported;
 * - categories have neither parents nor positions: they are sorted by name;
 * - search matches prefixes of words; sorting by price and `inStock` compare at most 5,000 products; paging ends at 25,000
 *   products;
 * - a customer's number of orders and amount spent are Shopify's figures, which count every order; birthdays come only
 *   from the metafield `facts.birth_date`;
 * - carts exist only once the shopper has entered an address at the checkout; one that was completed
 *   without an order that is found has no lines;
 * - webhooks are signed with the app's secret, not with ours.
 */
import { minuteMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import type { Precondition, ProviderEvent, ProviderStore } from '#runtime/ports/provider'
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
import { ensureCoupon, revokeCoupon } from './coupons.ts'
import { listCustomers } from './customers.ts'
import { ShopifyDiscounts } from './discounts.ts'
import { shopDocument } from './documents/documents.ts'
import { ShopifyClient } from './http/client.ts'
import { plainId } from './http/ids.ts'
import { BadCredentials, type ShopifyOptions } from './http/options.ts'
import { diagnose } from './installation/findings.ts'
import { installFlow } from './installation/install.ts'
import { activationLink, listScripts, removeTags, setLoaderUrl } from './installation/scripts.ts'
import { parseDelivery, registerWebhook } from './installation/webhooks.ts'
import { ShopifyOrders } from './orders.ts'
import { getProducts, listProductDates } from './products.ts'
import { CursorCache, searchProducts } from './search.ts'

export class ShopifyEcommerce implements EcommercePort {
  readonly #client: ShopifyClient
  readonly #options: ShopifyOptions
  readonly #discounts: ShopifyDiscounts
  readonly #orders: ShopifyOrders
  readonly #places = new CursorCache()
  readonly install: InstallFlow | undefined
  /** To Shopify a checkout is abandoned after ten minutes. Whether it is listed before is not documented. */
  readonly cartsAppearWithinMs = 10 * minuteMs

  constructor(options: ShopifyOptions) {
    this.#options = options
    this.#client = new ShopifyClient(options)
    const { app, domain, clock } = options
    this.install = app ? installFlow(this.#client, { app, domain, clock }) : undefined
    this.#orders = new ShopifyOrders(this.#client, options.clock)
    this.#discounts = new ShopifyDiscounts(this.#client, options.clock)
  }

  async check(store: ProviderStore) {
    try {
      const { shop } = await this.#client.graph(store, shopDocument)
      return {
        platformStoreId: plainId(shop.id),
        name: shop.name,
        domain: shop.primaryDomain.host,
        country: shop.shopAddress.countryCodeV2 ?? '',
        currency: shop.currencyCode,
        timezone: shop.ianaTimezone,
      }
    } catch (error) {
      // `Refused` becomes a `bad_request`, so the person who connects the shop sees the reason.
      if (error instanceof BadCredentials) throw new Refused('invalid-credentials', error.message)
      throw error
    }
  }

  findings(store: ProviderStore, url: string | null = null): Promise<Precondition[]> {
    const { app = null, clock } = this.#options
    return diagnose(this.#client, store, { url, app, clock })
  }

  searchProducts(store: ProviderStore, query: ProductQuery): Promise<{ products: Product[]; total: number }> {
    return searchProducts(this.#client, store, query, this.#places)
  }

  getProducts(store: ProviderStore, { ids }: { ids: string[] }): Promise<Product[]> {
    return getProducts(this.#client, store, ids)
  }

  listProductDates(
    store: ProviderStore,
    cursor: string | null,
  ): ReturnType<NonNullable<EcommercePort['listProductDates']>> {
    return listProductDates(this.#client, store, cursor)
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
    return this.#orders.list(store, query)
  }

  getOrder(store: ProviderStore, query: { id: string } | { number: string }): Promise<PlatformOrder | null> {
    return this.#orders.get(store, query)
  }

  ensureCoupon(store: ProviderStore, coupon: CouponSpec): ReturnType<EcommercePort['ensureCoupon']> {
    return ensureCoupon(this.#client, store, coupon, this.#options.clock)
  }

  revokeCoupon(store: ProviderStore, code: string): Promise<void> {
    return revokeCoupon(this.#client, store, code)
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
    return setLoaderUrl(this.#client, store, script, this.#options.clock.ms())
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
    return this.#client.parseCredentials(store).clientSecret
  }

  parseWebhook(headers: Headers, rawBody: Uint8Array, secret: string): ProviderEvent[] {
    return parseDelivery(headers, rawBody, { secret, now: this.#options.clock.now() })
  }
}
