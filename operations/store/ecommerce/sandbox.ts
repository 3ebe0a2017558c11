/**
 * The adapter of an ecommerce platform without a network: products, customers and orders are rows of our own database. It
 * is deterministic. In mode `down` (table `sandbox_modes`) every call fails. A call for the product `sandbox-down` always
 * fails. The product `sandbox-missing` never exists.
 */
import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Tables } from '#db/tables'
import type { Clock } from '#runtime/clock'
import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import type { EcommercePort, Product } from './port.ts'
import { ensureCoupon, revokeCoupon } from './sandbox-coupons.ts'
import { discountUsage, listDiscounts, putDiscount, removeDiscount } from './sandbox-discounts.ts'
import {
  findOrder,
  listCarts,
  listCategories,
  listCustomers,
  listOrders,
  searchProducts,
} from './sandbox-queries.ts'
import {
  findObjects,
  instantText,
  listObjects,
  putObjects,
  readShopFacts,
  type Shop,
} from './sandbox-rows.ts'
import { parseDelivery, registerWebhook } from './sandbox-webhooks.ts'

export type { Shop } from './sandbox-rows.ts'

interface StoredScript {
  id: string
  src: string
  createdAt: string
}

/** Rejects the credentials `{ token: 'invalid' }`. With any other credentials, it serves the store's own sandbox shop. */
export function sandboxEcommerce(options: { db: Kysely<Tables>; clock: Clock }): EcommercePort {
  const toShop = (store: ProviderStore): Shop => ({ ...options, storeId: store.id })
  const open = async (store: ProviderStore): Promise<Shop> => {
    const down = await options.db
      .selectFrom('sandbox_modes')
      .select('mode')
      .where('store_id', '=', store.id)
      .where('port', '=', 'ecommerce')
      .where('mode', '=', 'down')
      .executeTakeFirst()
    if (down) throw new Unavailable('no', 'The sandbox platform is down')
    return toShop(store)
  }

  return {
    async check(store) {
      const { token } = (store.credentials ?? {}) as { token?: unknown }
      if (token === 'invalid')
        throw new Refused('invalid-credentials', 'The platform does not know this token')
      const { slug, ...facts } = await readShopFacts(await open(store))
      return { platformStoreId: `sandbox-${slug}`, ...facts }
    },
    async searchProducts(store, query) {
      const shop = await open(store)
      failIfDown(query.ids)
      return searchProducts(shop, query)
    },
    async getProducts(store, { ids }) {
      const shop = await open(store)
      failIfDown(ids)
      const found = await findObjects<Product>(shop, 'product', ids)
      const place = new Map(ids.map((id, index) => [id, index]))
      return found.sort((a, b) => place.get(a.id)! - place.get(b.id)!)
    },
    listCategories: async (store) => listCategories(await open(store)),
    listCustomers: async (store, query) => listCustomers(await open(store), query),
    listOrders: async (store, query) => listOrders(await open(store), query),
    getOrder: async (store, query) => findOrder(await open(store), query),
    listCarts: async (store, query) => listCarts(await open(store), query),
    ensureCoupon: async (store, coupon) => ensureCoupon(await open(store), coupon),
    revokeCoupon: async (store, code) => revokeCoupon(await open(store), code),
    async discountCapabilities(store) {
      await open(store)
      return { kinds: ['quantity', 'bundle', 'gift'], maxLive: null }
    },
    putDiscount: async (store, spec) => putDiscount(await open(store), spec),
    removeDiscount: async (store, reference, revision) =>
      removeDiscount(await open(store), reference, revision),
    listDiscounts: async (store) => listDiscounts(await open(store)),
    discountUsage: async (store, references) => discountUsage(await open(store), references),
    async listScripts(store) {
      const scripts = await listObjects<StoredScript>(await open(store), 'script')
      return scripts.map((script) => ({ ...script, createdAt: new Date(script.createdAt) }))
    },
    async ensureScript(store, { src }) {
      const shop = await open(store)
      const id = createHash('sha256').update(src).digest('hex').slice(0, 24)
      const [known] = await findObjects<StoredScript>(shop, 'script', [id])
      const createdAt = instantText(shop.clock.now())
      if (!known)
        await putObjects(shop, 'script', [{ id, data: { id, src, createdAt }, updatedAt: createdAt }])
      return { id }
    },
    registerWebhook: async (store, webhook) => registerWebhook(await open(store), webhook),
    parseWebhook: parseDelivery,
  }
}

function failIfDown(ids: readonly string[] = []): void {
  if (ids.includes('sandbox-down')) throw new Unavailable('no', 'The sandbox platform does not answer')
}
