/**
 * Searches products. Shopify finds and counts products and sorts them by title or by last change. It can neither sort by
 * price nor filter by stock, because untracked products have no stock at Shopify. To sort by price or filter by stock,
 * prices and stock of all results are read and compared here, up to `maxCompared` products.
 */

import { Refused } from '#runtime/ports/errors'
import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import { hundredths } from '#runtime/values/money'
import type { Product, ProductQuery } from '../port.ts'
import {
  type CompareProductsQuery,
  compareProductsDocument,
  type ProductSortKeys,
  searchProductsDocument,
} from './documents/documents.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId } from './http/ids.ts'
import { getProducts, readStock } from './products.ts'
import { buildSearchQuery } from './search-query.ts'

const maxCompared = 5000
const idsPerPage = 250
/** Shopify pages through at most this many products. */
const maxPaged = 25_000

interface Found {
  ids: string[]
  total: number
}

/** Caches the cursor of each page, because Shopify has no page numbers. The next page then needs no paging from the start. */
export class CursorCache {
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
  places: CursorCache,
): Promise<{ products: Product[]; total: number }> {
  const text = buildSearchQuery(query)
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
    ? await findComparedPage(client, store, search, query)
    : await findPage(client, store, search, { offset, limit }, places)
  return { products: await getProducts(client, store, ids), total }
}

interface Search {
  key: string
  variables: { query: string | null; sortKey: ProductSortKeys; reverse: boolean }
}

async function findPage(
  client: ShopifyClient,
  store: ProviderStore,
  search: Search,
  { offset, limit }: { offset: number; limit: number },
  places: CursorCache,
): Promise<Found> {
  const ask = async (first: number, after: string | null) => {
    const variables = { ...search.variables, first, after }
    const { products, productsCount } = await client.graph(store, searchProductsDocument, variables)
    return { products, total: productsCount?.count ?? 0 }
  }
  let after = places.find(search.key, offset)
  // Without a cached cursor, page from the start to the offset.
  for (let at = after === null ? 0 : offset; at < offset; ) {
    const step = Math.min(idsPerPage, offset - at)
    const { products, total } = await ask(step, after)
    at += step
    after = products.pageInfo.endCursor
    if (!products.pageInfo.hasNextPage || at >= maxPaged) return { ids: [], total }
  }
  const { products, total } = await ask(limit, after)
  const { endCursor, hasNextPage } = products.pageInfo
  if (hasNextPage && endCursor) places.keep(search.key, offset + limit, endCursor)
  return { ids: products.nodes.map(({ id }) => plainId(id)), total }
}

interface Compared {
  id: string
  cents: bigint
  isInStock: boolean
}

async function findComparedPage(
  client: ShopifyClient,
  store: ProviderStore,
  search: Search,
  { sort, inStock, page, limit }: ProductQuery,
): Promise<Found> {
  const all: Compared[] = []
  const read = (after: string | null) =>
    client.graph(store, compareProductsDocument, { ...search.variables, after })
  for await (const { products, productsCount } of readPages(read, (page) =>
    getEndCursor(page.products.pageInfo),
  )) {
    if ((productsCount?.count ?? 0) > maxCompared) throw tooMany(inStock !== undefined)
    const stock = inStock === undefined ? new Map() : await readUnclearStock(client, store, products.nodes)
    all.push(...products.nodes.map((node) => toCompared(node, stock)))
  }
  const matching = inStock === undefined ? all : all.filter((each) => each.isInStock === inStock)
  const direction = sort === 'price' ? 1 : sort === '-price' ? -1 : 0
  matching.sort((a, b) => direction * Number(a.cents - b.cents))
  const offset = (page - 1) * limit
  return { ids: matching.slice(offset, offset + limit).map(({ id }) => id), total: matching.length }
}

const tooMany = (isStock: boolean) =>
  new Refused(
    'too-many-products',
    `${isStock ? 'inStock' : 'sort'}: Shopify cannot ${isStock ? 'filter by stock' : 'sort by price'}, and more than ${maxCompared} products are too many to compare: narrow the search`,
  )

type ComparedNode = CompareProductsQuery['products']['nodes'][number]

/**
 * The stock of products that have none in sum: one of their variants may be untracked, or in stock while another one is
 * oversold.
 */
function readUnclearStock(
  client: ShopifyClient,
  store: ProviderStore,
  nodes: readonly ComparedNode[],
): Promise<Map<string, number | null>> {
  const unclear = nodes.filter(
    ({ tracksInventory, totalInventory }) => tracksInventory && totalInventory <= 0,
  )
  const ids = unclear.map(({ id }) => plainId(id))
  return ids.length === 0 ? Promise.resolve(new Map()) : readStock(client, store, ids)
}

function toCompared(
  { id, priceRangeV2, tracksInventory, totalInventory }: ComparedNode,
  unclear: ReadonlyMap<string, number | null>,
): Compared {
  const stock = unclear.get(plainId(id))
  return {
    id: plainId(id),
    cents: hundredths.toCents(priceRangeV2.minVariantPrice.amount),
    isInStock: stock === undefined ? !tracksInventory || totalInventory > 0 : stock === null || stock > 0,
  }
}
