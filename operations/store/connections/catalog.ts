/** The catalog, live from the platform. */
import type { Context } from '#runtime/context'
import { keptProduct } from '../ecommerce/kept.ts'
import type { Category, Product, ProductQuery } from '../ecommerce/port.ts'
import { requireEcommerce } from './connections.ts'

const categoriesAtMost = 5000

/** A page of products as the platform finds them. Refuses with `conflict` where no platform is connected. */
export async function searchProducts(
  ctx: Context,
  query: ProductQuery,
): Promise<{ data: Product[]; page: number; limit: number; total: number }> {
  const { port, store } = await requireEcommerce(ctx)
  const { products, total } = await port.searchProducts(store, query)
  return { data: products.map(keptProduct), page: query.page, limit: query.limit, total }
}

/** All categories in the order of the tree; `search` in their names, without case or accents. Refuses as above. */
export async function listCategories(ctx: Context, search?: string): Promise<Category[]> {
  const { port, store } = await requireEcommerce(ctx)
  const categories = await port.listCategories(store)
  const wanted = folded(search ?? '')
  return categories.filter((category) => folded(category.name).includes(wanted)).slice(0, categoriesAtMost)
}

const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
