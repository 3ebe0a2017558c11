/** Lists Shopify's collections as categories, sorted by name, because collections have no parents and no order. */

import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import type { Category } from '../port.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId } from './http/ids.ts'

const document = `query Collections($after: String) {
  shop { primaryDomain { host } }
  collections(first: 250, after: $after, sortKey: TITLE) {
    nodes { id title handle productsCount { count } }
    pageInfo { hasNextPage endCursor }
  }
}`

interface Answer {
  shop: { primaryDomain: { host: string } }
  collections: {
    nodes: { id: string; title: string; handle: string; productsCount: { count: number } | null }[]
    pageInfo: { hasNextPage: boolean; endCursor: string | null }
  }
}

export async function listCategories(client: ShopifyClient, store: ProviderStore): Promise<Category[]> {
  const categories: Category[] = []
  const read = (after: string | null) => client.graph<Answer>(store, document, { after })
  for await (const { shop, collections } of readPages(read, (page) =>
    getEndCursor(page.collections.pageInfo),
  )) {
    for (const { id, title, handle, productsCount } of collections.nodes) {
      categories.push({
        id: plainId(id),
        name: title,
        parentId: null,
        path: title,
        handle,
        url: `https://${shop.primaryDomain.host}/collections/${handle}`,
        productCount: productsCount?.count ?? 0,
        position: categories.length + 1,
      })
    }
  }
  return categories
}
