/**
 * The adapter of the API of Tiendanube, named Nuvemshop in Brazil, one shop per store. Credentials: ./http/options.ts. How to
 * connect: ./TIENDANUBE.md. Permissions of the app: ./installation/install.ts.
 *
 * Limits of Tiendanube:
 * - discounts: Tiendanube asks at each change of a cart, within 800 ms, what they take off; it does not say which orders used
 *   them, so gifts have no usage limit;
 * - search looks at names, tags and SKUs, not at brands; `inStock` and `-updatedAt` compare at most 5,000 products;
 * - products of categories are counted here, in shops with at most 5,000 products;
 * - customers have no birthday;
 * - carts are reported by no webhook, and appear up to six hours after they were left;
 * - orders have no link for paying and none to their page, and say of no line what was refunded;
 * - coupons end with a day of the shop's time zone;
 * - webhooks are signed with the app's secret, not with ours.
 */
import { hourMs } from '#runtime/durations'
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
import { TiendanubeDiscounts } from './discounts/discounts.ts'
import { DiscountLedger } from './discounts/ledger.ts'
import { TiendanubeClient } from './http/client.ts'
import { BadCredentials, type TiendanubeOptions } from './http/options.ts'
import { diagnose } from './installation/findings.ts'
import { installFlow } from './installation/install.ts'
import { ensureScript, listScripts } from './installation/scripts.ts'
import { parseDelivery, registerWebhook } from './installation/webhooks.ts'
import { getOrder, listOrders } from './orders.ts'
import { getProducts, searchProducts } from './products.ts'
import { readShop, ShopCache } from './shop.ts'
import { toTimezone } from './timezones.ts'

/** All discounts are compared at each change of a cart, and are kept in the connection's row. */
const maxLive = 50

export class TiendanubeEcommerce implements EcommercePort {
  readonly #client: TiendanubeClient
  readonly #options: TiendanubeOptions
  readonly #shops: ShopCache
  readonly #discounts: TiendanubeDiscounts
  readonly install: InstallFlow | undefined
  readonly unreportedTopics = ['cart.updated'] as const
  readonly cartsAppearWithinMs = 6 * hourMs
  readonly hasUndatedEvents = true

  constructor(options: TiendanubeOptions) {
    this.#options = options
    this.#client = new TiendanubeClient(options)
    this.#shops = new ShopCache(this.#client, options.clock)
    this.#discounts = new TiendanubeDiscounts(this.#client, new DiscountLedger(options.db), options)
    this.install = options.app ? installFlow(this.#client, options.app, options) : undefined
  }

  async check(store: ProviderStore) {
    try {
      const { id, name, domain, country, currency } = await readShop(this.#client, store)
      return { platformStoreId: id, name, domain, country, currency, timezone: toTimezone(country) }
    } catch (error) {
      // `Refused` becomes a `bad_request`, so the person who connects the shop sees the reason.
      if (error instanceof BadCredentials) throw new Refused('invalid-credentials', error.message)
      throw error
    }
  }

  findings(store: ProviderStore, url: string | null = null): Promise<Precondition[]> {
    const { app = null, scriptId = null } = this.#options
    return diagnose(this.#client, store, { url, app, scriptId })
  }

  async searchProducts(
    store: ProviderStore,
    query: ProductQuery,
  ): Promise<{ products: Product[]; total: number }> {
    return searchProducts(this.#client, store, query, await this.#shops.get(store))
  }

  async getProducts(store: ProviderStore, { ids }: { ids: string[] }): Promise<Product[]> {
    return ids.length === 0 ? [] : getProducts(this.#client, store, ids, await this.#shops.get(store))
  }

  async listCategories(store: ProviderStore): Promise<Category[]> {
    return listCategories(this.#client, store, await this.#shops.get(store))
  }

  async listCustomers(
    store: ProviderStore,
    query: { cursor?: string; limit: number; birthdays?: string[] },
  ): Promise<{ customers: PlatformCustomer[]; next: string | null }> {
    return listCustomers(this.#client, store, query, await this.#shops.get(store))
  }

  listOrders(
    store: ProviderStore,
    query: { updatedSince: Date; cursor?: string },
  ): Promise<{ orders: PlatformOrder[]; next: string | null }> {
    return listOrders(this.#client, store, query, this.#options.clock)
  }

  getOrder(store: ProviderStore, query: { id: string } | { number: string }): Promise<PlatformOrder | null> {
    return getOrder(this.#client, store, query)
  }

  async ensureCoupon(store: ProviderStore, coupon: CouponSpec): ReturnType<EcommercePort['ensureCoupon']> {
    return ensureCoupon(this.#client, store, coupon, await this.#shops.get(store))
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

  async discountCapabilities(): Promise<DiscountCapabilities> {
    return { kinds: ['quantity', 'bundle', 'gift'], maxLive }
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

  /** Tiendanube says of no order which discounts it used. */
  async discountUsage(store: ProviderStore): Promise<Record<string, DiscountUsage>> {
    // Without a call a failing connection would look healthy.
    await readShop(this.#client, store)
    return {}
  }

  answerCart(store: ProviderStore, rawBody: Uint8Array): Promise<object | null> {
    return this.#discounts.answer(store, rawBody)
  }

  listScripts(store: ProviderStore): Promise<{ id: string; src: string; createdAt: Date }[]> {
    return listScripts(this.#client, store)
  }

  ensureScript(store: ProviderStore, script: { src: string }): Promise<{ id: string | null }> {
    return ensureScript(this.#client, store, script, this.#options.scriptId ?? null)
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
