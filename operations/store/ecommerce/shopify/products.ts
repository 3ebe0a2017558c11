/** Reads products by id: the content from REST, in batches of 50, and the collections, which REST lacks, from GraphQL. */

import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import type { Product, ProductVariant } from '../port.ts'
import type { ShopifyClient } from './http/client.ts'
import { isPlainId, plainId, toGid } from './http/ids.ts'
import { fromGraphVariant, type GraphVariant, type RestProduct, toProduct } from './product-map.ts'

const batchSize = 50
/** REST returns at most this many variants of a product. */
export const maxRestVariants = 100

interface Connection<T> {
  nodes: T[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}
type Collections = Connection<{ id: string; title: string }>

interface Facts {
  shop: { currencyCode: string; primaryDomain: { host: string } }
  nodes: ({ id: string; collections: Collections } | null)[]
}

const factsDocument = `query ProductFacts($ids: [ID!]!) {
  shop { currencyCode primaryDomain { host } }
  nodes(ids: $ids) {
    ... on Product { id collections(first: 10) { nodes { id title } pageInfo { hasNextPage endCursor } } }
  }
}`

/** Returns products in the order of `ids`; products that do not exist are left out. */
export async function getProducts(
  client: ShopifyClient,
  store: ProviderStore,
  ids: readonly string[],
): Promise<Product[]> {
  const known = [...new Set(ids)].filter(isPlainId)
  const found = new Map<string, Product>()
  for (let i = 0; i < known.length; i += batchSize) {
    for (const product of await getProductBatch(client, store, known.slice(i, i + batchSize))) {
      found.set(product.id, product)
    }
  }
  return known.flatMap((id) => found.get(id) ?? [])
}

async function getProductBatch(
  client: ShopifyClient,
  store: ProviderStore,
  ids: readonly string[],
): Promise<Product[]> {
  const [products, facts] = await Promise.all([
    fetchProducts(client, store, ids),
    client.graph<Facts>(store, factsDocument, { ids: ids.map((id) => toGid('Product', id)) }),
  ])
  const { currencyCode: currency, primaryDomain } = facts.shop
  const collections = new Map(
    facts.nodes.flatMap((node) => (node ? [[plainId(node.id), node] as const] : [])),
  )
  const made: Product[] = []
  for (const product of products) {
    const first = collections.get(String(product.id))?.collections
    const categories = first ? await listCollections(client, store, String(product.id), first) : []
    const isCut = product.variants.length >= maxRestVariants
    const variants = isCut ? { variants: await listVariants(client, store, product) } : {}
    made.push(toProduct(product, { currency, domain: primaryDomain.host, categories, ...variants }))
  }
  return made
}

/** Reads products with one REST call, for at most 250 ids. `fields`: the only fields to fetch. */
export async function fetchProducts(
  client: ShopifyClient,
  store: ProviderStore,
  ids: readonly string[],
  fields?: string,
): Promise<RestProduct[]> {
  const { body } = await client.rest<{ products: RestProduct[] }>(store, {
    path: 'products.json',
    query: { ids: ids.join(','), limit: 250, ...(fields ? { fields } : {}) },
  })
  return body.products
}

const moreCollections = `query MoreCollections($id: ID!, $after: String) {
  product(id: $id) {
    collections(first: 250, after: $after) { nodes { id title } pageInfo { hasNextPage endCursor } }
  }
}`

async function listCollections(
  client: ShopifyClient,
  store: ProviderStore,
  id: string,
  first: Collections,
): Promise<Product['categories']> {
  const nodes = [...first.nodes]
  const read = async (after: string | null): Promise<Collections | null> => {
    const variables = { id: toGid('Product', id), after }
    const { product } = await client.graph<{ product: { collections: Collections } | null }>(
      store,
      moreCollections,
      variables,
    )
    return product?.collections ?? null
  }
  const after = getEndCursor(first.pageInfo)
  if (after !== null) {
    for await (const page of readPages(read, (page) => page && getEndCursor(page.pageInfo), after)) {
      nodes.push(...(page?.nodes ?? []))
    }
  }
  return nodes.map((node) => ({ id: plainId(node.id), name: node.title }))
}

const variantsDocument = `query Variants($query: String!, $after: String) {
  productVariants(first: 100, after: $after, query: $query, sortKey: POSITION) {
    nodes {
      id title sku price compareAtPrice inventoryQuantity inventoryPolicy
      inventoryItem { tracked }
      selectedOptions { name value }
    }
    pageInfo { hasNextPage endCursor }
  }
}`

/** Reads all variants of a product from GraphQL, for products with more variants than REST returns. */
export async function listVariants(
  client: ShopifyClient,
  store: ProviderStore,
  { id, title }: Pick<RestProduct, 'id' | 'title'>,
): Promise<ProductVariant[]> {
  const variants: ProductVariant[] = []
  const read = (after: string | null) =>
    client.graph<{ productVariants: Connection<GraphVariant> }>(store, variantsDocument, {
      query: `product_id:${id}`,
      after,
    })
  for await (const { productVariants } of readPages(read, (page) =>
    getEndCursor(page.productVariants.pageInfo),
  )) {
    variants.push(...productVariants.nodes.map((node) => fromGraphVariant(title, node)))
  }
  return variants
}
