/**
 * Reads and searches products. Tiendanube finds and counts them, and sorts them by name or price. It can neither sort by the
 * last change nor say which products have stock: for these all results are read and compared here, up to `maxCompared`.
 */
import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { foldText } from '#runtime/values/fold'
import type { Product, ProductQuery } from '../port.ts'
import type { TiendanubeClient } from './http/client.ts'
import { isPlainId } from './http/values.ts'
import { type ApiProduct, toProduct } from './product-map.ts'
import type { ShopFacts } from './shop.ts'

/** Tiendanube takes so many ids at once. */
const idsAtOnce = 30
const maxCompared = 5000

const sorts: Readonly<Record<ProductQuery['sort'], string | undefined>> = {
  name: 'alpha-ascending',
  price: 'price-ascending',
  '-price': 'price-descending',
  '-updatedAt': undefined,
}

type Filter = Record<string, string | boolean | undefined>

/** Returns products in the order of `ids`; products that do not exist are left out. */
export async function getProducts(
  client: TiendanubeClient,
  store: ProviderStore,
  ids: readonly string[],
  shop: ShopFacts,
): Promise<Product[]> {
  const known = [...new Set(ids)].filter(isPlainId)
  const found = await readByIds(client, store, known, {})
  const byId = new Map(found.map((product) => [String(product.id), product]))
  return known.flatMap((id) => {
    const product = byId.get(id)
    return product ? [toProduct(product, shop)] : []
  })
}

async function readByIds(
  client: TiendanubeClient,
  store: ProviderStore,
  ids: readonly string[],
  filter: Filter,
): Promise<ApiProduct[]> {
  const found: ApiProduct[] = []
  for (let i = 0; i < ids.length; i += idsAtOnce) {
    const query = { ...filter, ids: ids.slice(i, i + idsAtOnce).join(','), per_page: idsAtOnce }
    found.push(...(await client.list<ApiProduct>(store, { path: 'products', query })).rows)
  }
  return found
}

export async function searchProducts(
  client: TiendanubeClient,
  store: ProviderStore,
  query: ProductQuery,
  shop: ShopFacts,
): Promise<{ products: Product[]; total: number }> {
  const filter = buildFilter(query)
  if (filter === null) return { products: [], total: 0 }
  const { page, limit, sort, inStock, ids } = query
  if (ids === undefined && inStock === undefined && sort !== '-updatedAt') {
    const request = { path: 'products', query: { ...filter, sort_by: sorts[sort], page, per_page: limit } }
    const { rows, total } = await client.list<ApiProduct>(store, request)
    return { products: rows.map((product) => toProduct(product, shop)), total }
  }
  const read = ids
    ? readByIds(client, store, ids.filter(isPlainId), filter)
    : readCompared(client, store, { ...filter, sort_by: sorts[sort] }, inStock !== undefined)
  const all = (await read).map((product) => toProduct(product, shop))
  const matching =
    inStock === undefined ? all : all.filter(({ stock }) => (stock === null || stock > 0) === inStock)
  if (ids || sort === '-updatedAt') matching.sort(comparers[sort])
  const offset = (page - 1) * limit
  return { products: matching.slice(offset, offset + limit), total: matching.length }
}

const comparers: Record<ProductQuery['sort'], (a: Product, b: Product) => number> = {
  name: (a, b) => (foldText(a.name) < foldText(b.name) ? -1 : 1),
  price: (a, b) => a.price - b.price,
  '-price': (a, b) => b.price - a.price,
  '-updatedAt': (a, b) => (a.updatedAt < b.updatedAt ? 1 : -1),
}

const readCompared = (
  client: TiendanubeClient,
  store: ProviderStore,
  query: Filter,
  isStock: boolean,
): Promise<ApiProduct[]> =>
  client.listAll<ApiProduct>(store, { path: 'products', query }, maxCompared).catch((error: unknown) => {
    if (!(error instanceof Refused && error.code === 'too-many')) throw error
    throw new Refused(
      'too-many-products',
      `${isStock ? 'inStock' : 'sort'}: Tiendanube cannot ${isStock ? 'filter by stock' : 'sort by the last change'}, and more than ${maxCompared} products are too many to compare: narrow the search`,
    )
  })

/** Null if no product can match. */
function buildFilter({ search, ids, categoryId, isPublished }: ProductQuery): Filter | null {
  if (ids && !ids.some(isPlainId)) return null
  if (categoryId !== undefined && !isPlainId(categoryId)) return null
  const text = search?.trim()
  if (text === '') return null
  return { q: text, category_id: categoryId, published: isPublished }
}
