/** Catalog of the sandbox shop: the products of the store's connected platform. */

import type { Category, Product, ProductQuery } from '#operations/store/index'
import { connections, requireStoreId } from '#operations/store/index'
import type { Context, SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'

export interface ShopFacts {
  ctx: Context
  slug: string
  /** The name in the page's address: the store's slug or id. */
  address: string
  /** Top-level categories, linked in the page header. */
  categories: Category[]
}

export interface OpenShop extends ShopFacts {
  products(query: Partial<ProductQuery>): Promise<Product[]>
}

const shownAtMost = 24

/** Opens the shop of a store by id or slug. Throws 404 for an unknown store, 409 while no platform is connected. */
export async function openShop(system: SystemContext, idOrSlug: string): Promise<OpenShop> {
  const storeId = await requireStoreId(system, idOrSlug)
  const ctx = (await system.forStore(storeId))!
  const platform = await connections.findEcommerce(ctx)
  if (!platform) throw refuse('conflict', 'The store has no platform: connect one first')
  const { port, store } = platform
  const categories = await port.listCategories(store)
  return {
    ctx,
    slug: ctx.store.slug,
    address: idOrSlug,
    categories: categories.filter(({ parentId }) => parentId === null).slice(0, 6),
    async products(query) {
      const usual = { sort: 'name', page: 1, limit: shownAtMost, isPublished: true } as const
      return (await port.searchProducts(store, { ...usual, ...query })).products
    },
  }
}

/** Finds a published product by id or handle. Throws 404 if there is none. */
export async function findProduct(shop: OpenShop, idOrHandle: string): Promise<Product> {
  const [byId] = await shop.products({ ids: [idOrHandle] })
  const found = byId ?? (await shop.products({ limit: 200 })).find(({ handle }) => handle === idOrHandle)
  if (!found) throw refuse('not_found', 'The shop has no such product')
  return found
}
