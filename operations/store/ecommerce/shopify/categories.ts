/** Lists Shopify's collections as categories, sorted by name, because collections have no parents and no order. */

import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import type { Category } from '../port.ts'
import { collectionsDocument } from './documents/documents.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId } from './http/ids.ts'

export async function listCategories(client: ShopifyClient, store: ProviderStore): Promise<Category[]> {
  const categories: Category[] = []
  const read = (after: string | null) => client.graph(store, collectionsDocument, { after })
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
