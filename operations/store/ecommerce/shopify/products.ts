/** Reads products by id, in batches; then the variants of the whole batch, because most products have few. */

import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import type { Product } from '../port.ts'
import {
  moreCollectionsDocument,
  moreMediaDocument,
  type ProductsQuery,
  productDatesDocument,
  productsDocument,
  variantStockDocument,
  variantsDocument,
} from './documents/documents.ts'
import type { ShopifyClient } from './http/client.ts'
import { isPlainId, plainId, toGid, toInstant } from './http/ids.ts'
import {
  getStock,
  type MediaNodes,
  type ShopifyProduct,
  type ShopifyVariant,
  sumStock,
  toProduct,
} from './product-map.ts'

/** Products per query: few enough to keep it below Shopify's limit of 1,000 cost points. */
const batchSize = 20

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

/** Reads when each product was changed: a point for each, where its content costs about thirty. */
export async function listProductDates(
  client: ShopifyClient,
  store: ProviderStore,
  after: string | null,
): Promise<{ products: { id: string; updatedAt: string }[]; next: string | null }> {
  const { products } = await client.graph(store, productDatesDocument, { after })
  return {
    products: products.nodes.map(({ id, updatedAt }) => ({
      id: plainId(id),
      updatedAt: toInstant(updatedAt),
    })),
    next: getEndCursor(products.pageInfo),
  }
}

async function getProductBatch(
  client: ShopifyClient,
  store: ProviderStore,
  ids: readonly string[],
): Promise<Product[]> {
  const [{ shop, nodes }, variants] = await Promise.all([
    client.graph(store, productsDocument, { ids: ids.map((id) => toGid('Product', id)) }),
    listVariants(client, store, ids),
  ])
  const products: Product[] = []
  for (const product of nodes) {
    if (!isProduct(product)) continue
    products.push(
      toProduct(product, {
        shop,
        collections: await listCollections(client, store, product),
        media: await listMedia(client, store, product),
        variants: variants.get(product.id) ?? [],
      }),
    )
  }
  return products
}

const isProduct = (node: ProductsQuery['nodes'][number]): node is ShopifyProduct =>
  node !== null && 'id' in node

async function listCollections(
  client: ShopifyClient,
  store: ProviderStore,
  { id, collections: first }: ShopifyProduct,
): Promise<ShopifyProduct['collections']['nodes']> {
  const nodes = [...first.nodes]
  const after = getEndCursor(first.pageInfo)
  if (after === null) return nodes
  const read = async (cursor: string | null) =>
    (await client.graph(store, moreCollectionsDocument, { id, after: cursor })).product?.collections
  for await (const page of readPages(read, (page) => page && getEndCursor(page.pageInfo), after)) {
    nodes.push(...(page?.nodes ?? []))
  }
  return nodes
}

async function listMedia(
  client: ShopifyClient,
  store: ProviderStore,
  { id, media: first }: ShopifyProduct,
): Promise<MediaNodes> {
  const nodes = [...first.nodes]
  const after = getEndCursor(first.pageInfo)
  if (after === null) return nodes
  const read = async (cursor: string | null) =>
    (await client.graph(store, moreMediaDocument, { id, after: cursor })).product?.media
  for await (const page of readPages(read, (page) => page && getEndCursor(page.pageInfo), after)) {
    nodes.push(...(page?.nodes ?? []))
  }
  return nodes
}

/** Reads all variants of these products, by Shopify's id of the product. */
async function listVariants(
  client: ShopifyClient,
  store: ProviderStore,
  ids: readonly string[],
): Promise<Map<string, ShopifyVariant[]>> {
  const query = `product_ids:${ids.join(',')}`
  const variants: ShopifyVariant[] = []
  const read = (after: string | null) => client.graph(store, variantsDocument, { query, after })
  for await (const { productVariants } of readPages(read, (page) =>
    getEndCursor(page.productVariants.pageInfo),
  )) {
    variants.push(...productVariants.nodes)
  }
  return Map.groupBy(variants, ({ product }) => product.id)
}

/** Reads the stock of these products, by plain id; null if any variant is not tracked. */
export async function readStock(
  client: ShopifyClient,
  store: ProviderStore,
  ids: readonly string[],
): Promise<Map<string, number | null>> {
  const query = `product_ids:${ids.join(',')}`
  const variants: { product: string; stock: number | null }[] = []
  const read = (after: string | null) => client.graph(store, variantStockDocument, { query, after })
  for await (const { productVariants } of readPages(read, (page) =>
    getEndCursor(page.productVariants.pageInfo),
  )) {
    for (const variant of productVariants.nodes) {
      variants.push({ product: plainId(variant.product.id), stock: getStock(variant) })
    }
  }
  const byProduct = Map.groupBy(variants, ({ product }) => product)
  return new Map([...byProduct].map(([id, all]) => [id, sumStock(all)]))
}
