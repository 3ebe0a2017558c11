/**
 * The search for products. Shopify finds them, counts them, and sorts them by title or by change. It can neither sort
 * all by price nor tell which are in stock (what is not tracked has no stock there): for these the prices and the stock
 * of what it finds are read and compared here, up to `comparedAtMost` products.
 */

import { Refused } from '#runtime/ports/errors'
import { afterOf, pagesOf } from '#runtime/ports/pages'
import type { ProviderStore } from '#runtime/ports/provider'
import { toCents } from '#runtime/values/money'
import type { Product, ProductQuery } from '../port.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId } from './http/ids.ts'
import { cheapestOf, stockOf, variantOf } from './product-map.ts'
import { allVariants, getProducts, restProducts, restVariantsAtMost } from './products.ts'
import { searchText } from './search-text.ts'

const comparedAtMost = 5000
const idsAtOnce = 250
/** Shopify turns no further pages. */
const pagedAtMost = 25_000

const document = `query Products($first: Int!, $after: String, $query: String, $sortKey: ProductSortKeys!, $reverse: Boolean!) {
  products(first: $first, after: $after, query: $query, sortKey: $sortKey, reverse: $reverse) {
    nodes { id }
    pageInfo { hasNextPage endCursor }
  }
  productsCount(query: $query, limit: null) { count }
}`

interface Answer {
  products: { nodes: { id: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }
  productsCount: { count: number }
}

interface Found {
  ids: string[]
  total: number
}

/** Where pages begin, for who turns them one after another: Shopify knows cursors, no page numbers. */
export class PlacesKept {
  readonly #cursors = new Map<string, string>()
  readonly #atMost = 2000

  keep(search: string, offset: number, cursor: string): void {
    const key = `${search} ${offset}`
    this.#cursors.delete(key)
    this.#cursors.set(key, cursor)
    if (this.#cursors.size > this.#atMost) this.#cursors.delete(this.#cursors.keys().next().value!)
  }

  find(search: string, offset: number): string | null {
    return this.#cursors.get(`${search} ${offset}`) ?? null
  }
}

export async function searchProducts(
  client: ShopifyClient,
  store: ProviderStore,
  query: ProductQuery,
  places: PlacesKept,
): Promise<{ products: Product[]; total: number }> {
  const text = searchText(query)
  if (text === null) return { products: [], total: 0 }
  const { page, limit, sort, inStock } = query
  const search: Search = {
    key: `${store.id} ${sort === '-updatedAt' ? 'updated' : 'title'} ${limit} ${text}`,
    variables: {
      query: text || null,
      sortKey: sort === '-updatedAt' ? 'UPDATED_AT' : 'TITLE',
      reverse: sort === '-updatedAt',
    },
  }
  const offset = (page - 1) * limit
  const isCompared = inStock !== undefined || sort === 'price' || sort === '-price'
  const { ids, total } = isCompared
    ? await comparedPage(client, store, search, query)
    : await pageAt(client, store, search, { offset, limit }, places)
  return { products: await getProducts(client, store, ids), total }
}

interface Search {
  key: string
  variables: { query: string | null; sortKey: string; reverse: boolean }
}

async function pageAt(
  client: ShopifyClient,
  store: ProviderStore,
  search: Search,
  { offset, limit }: { offset: number; limit: number },
  places: PlacesKept,
): Promise<Found> {
  const ask = (first: number, after: string | null): Promise<Answer> =>
    client.graph(store, document, { ...search.variables, first, after })
  let after = places.find(search.key, offset)
  // A place that nobody has been to is walked to.
  for (let at = after === null ? 0 : offset; at < offset; ) {
    const step = Math.min(idsAtOnce, offset - at)
    const { products, productsCount } = await ask(step, after)
    at += step
    after = products.pageInfo.endCursor
    if (!products.pageInfo.hasNextPage || at >= pagedAtMost) return { ids: [], total: productsCount.count }
  }
  const { products, productsCount } = await ask(limit, after)
  const { endCursor, hasNextPage } = products.pageInfo
  if (hasNextPage && endCursor) places.keep(search.key, offset + limit, endCursor)
  return { ids: products.nodes.map(({ id }) => plainId(id)), total: productsCount.count }
}

interface Compared {
  id: string
  cents: bigint
  isInStock: boolean
}

async function comparedPage(
  client: ShopifyClient,
  store: ProviderStore,
  search: Search,
  { sort, inStock, page, limit }: ProductQuery,
): Promise<Found> {
  const all: Compared[] = []
  const read = (after: string | null) =>
    client.graph<Answer>(store, document, { ...search.variables, first: idsAtOnce, after })
  for await (const { products, productsCount } of pagesOf(read, (page) => afterOf(page.products.pageInfo))) {
    if (productsCount.count > comparedAtMost) throw tooMany(inStock !== undefined)
    if (products.nodes.length > 0) {
      const ids = products.nodes.map(({ id }) => plainId(id))
      all.push(...(await compared(client, store, ids)))
    }
  }
  const kept = inStock === undefined ? all : all.filter((each) => each.isInStock === inStock)
  const direction = sort === 'price' ? 1 : sort === '-price' ? -1 : 0
  kept.sort((a, b) => direction * Number(a.cents - b.cents))
  const offset = (page - 1) * limit
  return { ids: kept.slice(offset, offset + limit).map(({ id }) => id), total: kept.length }
}

const tooMany = (isStock: boolean) =>
  new Refused(
    'too-many-products',
    `${isStock ? 'inStock' : 'sort'}: Shopify cannot ${isStock ? 'filter by stock' : 'sort by price'}, and more than ${comparedAtMost} products are too many to compare: narrow the search`,
  )

/** Prices and stock of these products, in the order of the ids. */
async function compared(
  client: ShopifyClient,
  store: ProviderStore,
  ids: readonly string[],
): Promise<Compared[]> {
  const products = await restProducts(client, store, ids, 'id,title,variants')
  const byId = new Map<string, Compared>()
  for (const product of products) {
    const isCut = product.variants.length >= restVariantsAtMost
    const variants = isCut
      ? await allVariants(client, store, product)
      : product.variants.map((variant) => variantOf(product, variant))
    const stock = stockOf(variants)
    byId.set(String(product.id), {
      id: String(product.id),
      cents: toCents(cheapestOf(variants)?.price ?? 0),
      isInStock: stock === null || stock > 0,
    })
  }
  return ids.flatMap((id) => byId.get(id) ?? [])
}
