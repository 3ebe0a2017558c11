/** Reads products and categories live from the ecommerce platform. */

import type { Context } from '#runtime/context'
import { containsWords, toSearchWords } from '#runtime/values/fold'
import type { Category, Product, ProductQuery } from '../ecommerce/port.ts'
import { sanitizeProduct } from '../ecommerce/sanitize-product.ts'
import { requireEcommerce } from './connections.ts'

const maxCategories = 5000

/** Searches products on the platform. Refuses with `conflict` if no platform is connected. */
export async function searchProducts(
  ctx: Context,
  query: ProductQuery,
): Promise<{ data: Product[]; page: number; limit: number; total: number }> {
  const { port, store } = await requireEcommerce(ctx)
  const { products, total } = await port.searchProducts(store, query)
  return { data: products.map(sanitizeProduct), page: query.page, limit: query.limit, total }
}

/** All categories in tree order; `search` matches names, ignoring case and accents. Refuses like `searchProducts`. */
export async function listCategories(ctx: Context, search?: string): Promise<Category[]> {
  const { port, store } = await requireEcommerce(ctx)
  const categories = await port.listCategories(store)
  const words = search === undefined ? null : toSearchWords(search)
  return categories
    .filter(({ name }) => words === null || containsWords([name], words))
    .slice(0, maxCategories)
}
